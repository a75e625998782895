# The command line, run as a program, and its parts with engines that lie.
foreach(name IN ITEMS mul error verb bench resource)
  tessera_cli_test(cli_${name}_test LABELS cli)
endforeach()
if(TARGET tessera_cli)
  tessera_test(cli_seam_test LABELS cli LIBRARIES tessera_verbs)
  tessera_test(cli_progress_test LABELS cli LIBRARIES tessera_verbs)
endif()
# Every run of a benchmark measures peaks, which takes a sanitizer long: there a few runs must do.
if(TARGET cli_bench_test AND TESSERA_SANITIZE)
  set_tests_properties(${TESSERA_TEST_PREFIX}cli_bench_test PROPERTIES ENVIRONMENT
    "GTEST_FILTER=CliBench.UsageErrors:CliBench.JsonDescribesTheCallThatWasTimed:CliBench.ABuildThatIsNotForSpeedSaysSo:CliBench.SuitesGoOnAfterAMalformedLine")
endif()
