# Products cut along k. tile_schedule_test needs neither a GPU nor a CUDA build.
tessera_test(tile_schedule_test LABELS core)
if(TESSERA_WITH_CUDA)
  tessera_test(cuda_split_k_test LABELS gpu LIBRARIES CUDA::cudart_static NEEDS_GPU)
endif()
