# What the checker knows of matrix products.
if(TARGET tessera_simt)
  tessera_test(simt_roles_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_driver_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_judge_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_causes_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_exercise_test LABELS simt LIBRARIES tessera_simt)
endif()
