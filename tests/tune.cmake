# Tuning: the cache and who wins, with runners that lie; the verb, and "tuned" in bench and mul.
if(TARGET tessera_bench)
  tessera_test(tune_cache_test LABELS bench LIBRARIES tessera_bench)
  tessera_test(tune_case_test LABELS bench LIBRARIES tessera_bench)
endif()
tessera_cli_test(cli_tune_test LABELS cli bench LIBRARIES tessera_verbs)
