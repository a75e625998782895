# Measuring: the loop with contenders that lie, cases, rooflines, rows as JSON, real contests.
if(TARGET tessera_bench)
  tessera_test(bench_measure_test LABELS bench LIBRARIES tessera_bench)
  tessera_test(bench_contest_test LABELS bench LIBRARIES tessera_bench)
  tessera_test(bench_report_test LABELS bench LIBRARIES tessera_bench)
endif()
