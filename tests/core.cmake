tessera_test(compare_test LABELS core)
tessera_test(core_test LABELS core)
tessera_test(core_limits_test LABELS core)
tessera_test(lifetime_test LABELS core)
tessera_test(registry_test LABELS core)
tessera_test(plan_test LABELS core)
# It replaces operator new and delete with malloc and free, which GCC takes for a mismatch.
set_source_files_properties(plan_test.cc PROPERTIES COMPILE_OPTIONS -Wno-mismatched-new-delete)
tessera_test(pointer_batch_test LABELS core cpu)

# One executable, two entries: what runs on the CPU, and what needs a GPU.
tessera_test_wanted(wanted kernel_test_cpu kernel_test_cuda)
if(wanted)
  tessera_test_program(kernel_test)
endif()
tessera_add_test(kernel_test_cpu COMMAND kernel_test --gtest_filter=Cpu/* LABELS cpu)
if(TESSERA_WITH_CUDA)
  tessera_add_test(kernel_test_cuda COMMAND kernel_test --needs-gpu --gtest_filter=Cuda/* LABELS gpu)
endif()

tessera_test_wanted(wanted c_api_test)
if(wanted)
  add_executable(c_api_test c_api_test.c)
  set_target_properties(c_api_test PROPERTIES C_STANDARD 11 LINKER_LANGUAGE CXX)
  target_link_libraries(c_api_test PRIVATE tessera Threads::Threads)
  tessera_add_test(c_api_test COMMAND c_api_test LABELS core)
endif()

# Install, then build and run programs outside the tree against what was installed.
if(TARGET tessera_cli AND NOT TESSERA_SANITIZE)
  tessera_add_test(install_test LABELS install COMMAND ${CMAKE_COMMAND}
    -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR} -DBLAS=${TESSERA_BUILD_BLAS}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/install/run.cmake)
endif()
# Every public header compiles on its own.
if(TESSERA_SANITIZE)
  return()  # as without, and nothing of it runs
endif()
file(GLOB public_headers RELATIVE ${PROJECT_SOURCE_DIR}/include
  CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/tessera/*.h)
foreach(header IN LISTS public_headers)
  string(MAKE_C_IDENTIFIER ${header} id)
  file(CONFIGURE OUTPUT header_${id}.cc CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
  list(APPEND header_sources ${CMAKE_CURRENT_BINARY_DIR}/header_${id}.cc)
endforeach()
add_library(header_test OBJECT ${header_sources})
target_link_libraries(header_test PRIVATE tessera)
tessera_warnings(header_test)

# The weights of a real model, by every CPU kernel, against NumPy. ./dev test fetches the file.
if(TARGET tessera_cli AND NOT TESSERA_SANITIZE)
  tessera_add_test(model_test LABELS io cpu COMMAND ${TESSERA_TEST_PYTHON}
    ${CMAKE_CURRENT_SOURCE_DIR}/model_test.py $<TARGET_FILE:tessera_cli>
    ${PROJECT_SOURCE_DIR}/build/model/model.safetensors cpu)
endif()
