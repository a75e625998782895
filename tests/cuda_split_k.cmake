# Products cut along k, and the choice of a tile. tile_schedule_test needs no CUDA build.
tessera_test(tile_schedule_test LABELS core)
if(TESSERA_WITH_CUDA)
  tessera_test(cuda_choice_test LABELS cuda)
  tessera_test(cuda_split_k_test LABELS gpu LIBRARIES CUDA::cudart_static NEEDS_GPU)
endif()
