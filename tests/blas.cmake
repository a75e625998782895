# gemm under its BLAS names.
if(NOT TARGET tessera_blas)
  return()
endif()
# One executable, two entries: the second is skipped where the reference BLAS is not installed.
tessera_test_wanted(wanted blas_error_test)
if(wanted)
  tessera_test_program(blas_error_test LIBRARIES tessera_blas)
endif()
tessera_add_test(blas_error_test COMMAND blas_error_test --gtest_filter=-BlasReference.* LABELS blas)
tessera_add_test(blas_reference_error_test LABELS blas
  COMMAND blas_error_test --gtest_filter=BlasReference.*
  SKIP_REGULAR_EXPRESSION "is not the reference BLAS")
tessera_test(blas_test LABELS blas LIBRARIES tessera_blas)
tessera_test(blas_default_test LABELS blas LIBRARIES tessera_blas)

# What is preloaded into programs that are not instrumented must not be either.
if(TESSERA_SANITIZE)
  return()
endif()
set(here ${CMAKE_CURRENT_SOURCE_DIR})
set(work ${PROJECT_BINARY_DIR}/blas_test)
set(library $<TARGET_FILE:tessera_blas>)
tessera_add_test(blas_symbols_test LABELS blas COMMAND ${here}/blas_symbols_test.sh ${library})
tessera_add_test(blas_reference_test LABELS blas
  COMMAND ${here}/blas_reference_test.sh ${library} preload ${work}/preload)
tessera_add_test(blas_numpy_test LABELS blas TIMEOUT 1800
  COMMAND ${here}/blas_numpy_test.sh ${TESSERA_TEST_PYTHON} ${library} ${work}/numpy)

# As an alternative for libblas.so.3 it loads the reference for all other routines.
set(reference /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/blas/libblas.so.3)
tessera_test_wanted(wanted blas_alternative_test)
if(wanted AND EXISTS ${reference})
  tessera_blas_library(tessera_blas_before_reference ${reference})
  tessera_add_test(blas_alternative_test LABELS blas COMMAND ${here}/blas_reference_test.sh
    $<TARGET_FILE:tessera_blas_before_reference> alternative ${work}/alternative)
else()
  tessera_add_test(blas_alternative_test LABELS blas COMMAND ${CMAKE_COMMAND} -E echo
    "skipped: no ${reference} (Debian: libblas3)" SKIP_REGULAR_EXPRESSION "^skipped")
endif()
