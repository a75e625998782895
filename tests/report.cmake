# Results files: reading, comparing, `tessera report`.
if(TARGET tessera_bench)
  foreach(name IN ITEMS results_file_test compare_results_test)
    tessera_test(${name} LABELS bench LIBRARIES tessera_bench)
    if(TARGET ${name})
      target_compile_definitions(${name} PRIVATE
        TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data" RESULTS="${PROJECT_SOURCE_DIR}/bench/results")
    endif()
  endforeach()
endif()
if(TARGET tessera_cli)
  tessera_test(cli_report_test LABELS cli bench LIBRARIES tessera_verbs)
  if(TARGET cli_report_test)
    target_link_libraries(cli_report_test PRIVATE tessera_test_cli)
    target_compile_definitions(cli_report_test PRIVATE TESSERA_CLI="$<TARGET_FILE:tessera_cli>"
      TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data" RESULTS="${PROJECT_SOURCE_DIR}/bench/results")
    add_dependencies(cli_report_test tessera_cli)
  endif()
endif()
