# The exercise from its files to its verdict, and what `tessera check --gpu` says without a GPU.
if(NOT TESSERA_SANITIZE)
  tessera_cli_test(check_exercise_test LABELS simt check LIBRARIES tessera_simt)
endif()
if(TARGET tessera_simt)
  tessera_test(simt_gpu_test LABELS simt LIBRARIES tessera_simt)
endif()
