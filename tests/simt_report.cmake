# Banks as the hardware counts them.
if(TARGET tessera_simt)
  tessera_test(simt_banks_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_widths_test LABELS simt LIBRARIES tessera_simt)
endif()
# The checker's reports, and what it reads from cubins.
if(TARGET tessera_simt)
  tessera_test(simt_report_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_memory_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_quality_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_cubin_test LABELS simt LIBRARIES tessera_simt)
  # Needs nvcc: without it these are skipped, and ctest shows so.
  tessera_test(simt_nvcc_test LABELS simt LIBRARIES tessera_simt)
endif()
