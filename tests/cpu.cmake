# The CPU backend: kernels, instruction sets, thread pool.
tessera_test(cpu_kernel_test LABELS cpu)
tessera_test(cpu_threads_test LABELS cpu)

# The environment is read once for each process, so each value has one of its own.
foreach(simd IN ITEMS ScaLar avx2 avx512 neon nonsense)
  add_test(NAME cpu_simd_environment_${simd}
    COMMAND cpu_kernel_test --gtest_filter=SimdEnvironment.*)
  set_tests_properties(cpu_simd_environment_${simd} PROPERTIES
    LABELS cpu TIMEOUT 60 ENVIRONMENT TESSERA_SIMD=${simd})
endforeach()
