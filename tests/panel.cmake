if(TARGET tessera_panel)
  tessera_test(panel_plan_test LABELS cpu panel LIBRARIES tessera_panel)
  tessera_test(panel_io_test LABELS cpu panel LIBRARIES tessera_panel)
  tessera_test(panel_test LABELS cpu panel LIBRARIES tessera_panel)
  tessera_test(panel_walk_test LABELS cpu panel LIBRARIES tessera_panel)
  # Skips all of its cases or none: under a sanitizer, which has memory of its own.
  tessera_test(panel_memory_test LABELS cpu panel LIBRARIES tessera_panel
    SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  tessera_test(panel_gpu_test LABELS gpu panel LIBRARIES tessera_panel NEEDS_GPU)
endif()
