# What is special to CUDA. cuda_test needs no GPU; the others exit with 77, which ctest shows as
# skipped, where there is none.
if(TESSERA_WITH_CUDA)
  tessera_test(cuda_test LABELS cuda LIBRARIES CUDA::cudart_static)
  foreach(name IN ITEMS cuda_device_test cuda_kernels_test)
    tessera_test(${name} LABELS gpu LIBRARIES CUDA::cudart_static)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu)
  endforeach()
endif()
