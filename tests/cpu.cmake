# The CPU backend: kernels, instruction sets, thread pool.
tessera_test(cpu_kernel_test LABELS cpu)
tessera_test(cpu_threads_test LABELS cpu)

# The environment is read once for each process, so each value has one of its own.
foreach(simd IN ITEMS ScaLar avx2 avx512 neon nonsense)
  tessera_add_test(cpu_simd_environment_${simd} LABELS cpu
    COMMAND cpu_kernel_test --gtest_filter=SimdEnvironment.*)
  set(full ${TESSERA_TEST_PREFIX}cpu_simd_environment_${simd})
  if(TEST ${full})
    set_tests_properties(${full} PROPERTIES ENVIRONMENT TESSERA_SIMD=${simd})
  endif()
endforeach()
