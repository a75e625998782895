if(TARGET tessera_panel)
  tessera_test(panel_plan_test LABELS cpu panel LIBRARIES tessera_panel)
  tessera_test(panel_io_test LABELS cpu panel LIBRARIES tessera_panel)
  tessera_test(panel_test LABELS cpu panel LIBRARIES tessera_panel)
  tessera_test(panel_walk_test LABELS cpu panel LIBRARIES tessera_panel)
  tessera_test(panel_memory_test LABELS cpu panel LIBRARIES tessera_panel)
  tessera_test(panel_gpu_test LABELS gpu panel LIBRARIES tessera_panel)
  # Both skip all of their cases or none: without a GPU, under a sanitizer.
  set_tests_properties(panel_gpu_test panel_memory_test PROPERTIES
    SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
endif()
