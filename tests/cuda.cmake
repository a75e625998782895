# What is special to CUDA. cuda_test needs no GPU.
if(TESSERA_WITH_CUDA)
  tessera_test(cuda_test LABELS cuda LIBRARIES CUDA::cudart_static)
  tessera_test(cuda_backend_test LABELS gpu LIBRARIES CUDA::cudart_static NEEDS_GPU)
  if(TARGET cuda_backend_test)
    target_sources(cuda_backend_test PRIVATE cuda_kernels_test.cc)
  endif()
endif()
