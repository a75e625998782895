# The CPU backend: kernels, instruction sets, thread pool.
tessera_test(cpu_kernel_test LABELS cpu)
tessera_test(cpu_half_test LABELS cpu)
tessera_test(cpu_threads_test LABELS cpu)

# The environment is read once for each process, so each value has one of its own.
if(TARGET cpu_kernel_test)
  foreach(simd IN ITEMS ScaLar avx2 avx512 neon nonsense)
    tessera_add_test(cpu_simd_environment_${simd} LABELS cpu ENVIRONMENT TESSERA_SIMD=${simd}
      TIMEOUT 60 COMMAND cpu_kernel_test --gtest_filter=SimdEnvironment.*)
  endforeach()
  # Threads race alike on every instruction set, and ThreadSanitizer takes minutes for each.
  if(TESSERA_SANITIZE STREQUAL "thread")
    set_tests_properties(${TESSERA_TEST_PREFIX}cpu_kernel_test PROPERTIES ENVIRONMENT
      "GTEST_FILTER=-*/SCALAR:*/SSE4")
  endif()
endif()
