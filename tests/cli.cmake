# The command line, run as a program, and its parts with engines that lie.
if(TARGET tessera_cli)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  foreach(name IN ITEMS cli_mul_test cli_error_test cli_verb_test cli_bench_test
      cli_resource_test)
    tessera_test(${name} LABELS cli LIBRARIES nlohmann_json::nlohmann_json)
    if(TARGET ${name})
      target_link_libraries(${name} PRIVATE tessera_test_cli)
      target_compile_definitions(${name} PRIVATE TESSERA_CLI="$<TARGET_FILE:tessera_cli>")
      add_dependencies(${name} tessera_cli)
    endif()
  endforeach()
  tessera_test(cli_seam_test LABELS cli LIBRARIES tessera_verbs)
  tessera_test(cli_progress_test LABELS cli LIBRARIES tessera_verbs)
endif()
# Every run of a benchmark measures peaks, which takes a sanitizer long: there a few runs must do.
if(TARGET cli_bench_test AND TESSERA_SANITIZE)
  set_tests_properties(${TESSERA_TEST_PREFIX}cli_bench_test PROPERTIES ENVIRONMENT
    "GTEST_FILTER=CliBench.UsageErrors:CliBench.JsonDescribesTheCallThatWasTimed:CliBench.ABuildThatIsNotForSpeedSaysSo:CliBench.SuitesGoOnAfterAMalformedLine")
endif()
