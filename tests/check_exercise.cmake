# The exercise from its files to its verdict, and what `tessera check --gpu` says without a GPU.
if(TARGET tessera_cli AND NOT TESSERA_SANITIZE)
  tessera_test(check_exercise_test LABELS simt check LIBRARIES nlohmann_json::nlohmann_json
    tessera_simt)
  if(TARGET check_exercise_test)
    add_dependencies(check_exercise_test tessera_cli)
    target_link_libraries(check_exercise_test PRIVATE tessera_test_cli)
    target_compile_definitions(check_exercise_test PRIVATE TESSERA_CLI="$<TARGET_FILE:tessera_cli>")
  endif()
endif()
if(TARGET tessera_simt)
  tessera_test(simt_gpu_test LABELS simt LIBRARIES tessera_simt)
endif()
