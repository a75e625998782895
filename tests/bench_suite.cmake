if(TARGET tessera_bench)
  tessera_test(bench_suite_test LABELS cpu bench LIBRARIES tessera_bench)
endif()
