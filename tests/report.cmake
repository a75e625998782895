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
tessera_cli_test(cli_report_test LABELS cli bench LIBRARIES tessera_verbs DEFINITIONS
  TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data" RESULTS="${PROJECT_SOURCE_DIR}/bench/results")
