# Cases from files, and the CPU peers with libraries made for the test.
if(NOT TARGET tessera_bench)
  return()
endif()
tessera_test(bench_suite_test LABELS cpu bench LIBRARIES tessera_bench)

tessera_test_wanted(wanted bench_peers_test)
if(wanted)
  tessera_test(bench_peers_test LABELS cpu bench LIBRARIES tessera_bench ${CMAKE_DL_LIBS})
  foreach(fake IN ITEMS blas dnnl missing)
    add_library(fake_${fake} MODULE peers/fake_${fake}.cc)
    tessera_warnings(fake_${fake})
    # Plain and fast in every build: they stand for libraries that are not built here.
    target_compile_options(fake_${fake} PRIVATE -O2 -fno-sanitize=all)
    add_dependencies(bench_peers_test fake_${fake})
    string(TOUPPER ${fake} upper)
    target_compile_definitions(bench_peers_test PRIVATE
      FAKE_${upper}_FILE="$<TARGET_FILE:fake_${fake}>")
  endforeach()
endif()
