# Measuring a GPU. Only bench_gpu_test needs one.
if(TARGET tessera_bench)
  tessera_test(bench_counters_test LABELS cpu bench LIBRARIES tessera_bench)
  tessera_test(bench_traffic_test LABELS cpu bench LIBRARIES tessera_bench)
  if(TESSERA_WITH_CUDA)
    tessera_test(bench_gpu_test LABELS gpu bench LIBRARIES tessera_bench CUDA::cudart_static
      NEEDS_GPU)
  else()
    tessera_test(bench_no_gpu_test LABELS cpu bench LIBRARIES tessera_bench)
  endif()
endif()
