# `tessera check` on small kernels: the right ones without a finding, the planted fault of each wrong
# one at its line; and on Tessera's own plain rungs. The executor's fibers and hooks do not go
# together with a sanitizer's.
if(NOT TESSERA_SANITIZE)
  tessera_cli_test(check_test LABELS simt check DEFINITIONS
    TESSERA_SOURCE="${PROJECT_SOURCE_DIR}" TESSERA_KERNELS="${CMAKE_CURRENT_SOURCE_DIR}/check")
endif()

# What it says of odd inputs.
tessera_cli_test(check_error_test LABELS simt check)

# What it leaves behind when a signal ends it, at moments that a sanitizer would move.
if(NOT TESSERA_SANITIZE)
  tessera_cli_test(check_interrupt_test LABELS simt check)
endif()
