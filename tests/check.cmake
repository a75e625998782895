# `tessera check` on small kernels: the right ones without a finding, the planted fault of each wrong
# one at its line; and on Tessera's own plain rungs. The executor's fibers and hooks do not go
# together with a sanitizer's.
if(TARGET tessera_cli AND NOT TESSERA_SANITIZE)
  tessera_test(check_test LABELS simt check LIBRARIES nlohmann_json::nlohmann_json)
  if(TARGET check_test)
    target_link_libraries(check_test PRIVATE tessera_test_cli)
    add_dependencies(check_test tessera_cli)
    target_compile_definitions(check_test PRIVATE
      TESSERA_CLI="$<TARGET_FILE:tessera_cli>"
      TESSERA_SOURCE="${PROJECT_SOURCE_DIR}"
      TESSERA_KERNELS="${CMAKE_CURRENT_SOURCE_DIR}/check")
  endif()
endif()

# What it says of odd inputs.
tessera_test(check_error_test LABELS simt check LIBRARIES nlohmann_json::nlohmann_json)
if(TARGET check_error_test)
  add_dependencies(check_error_test tessera_cli)
  target_link_libraries(check_error_test PRIVATE tessera_test_cli)
  target_compile_definitions(check_error_test PRIVATE TESSERA_CLI="$<TARGET_FILE:tessera_cli>")
endif()

# What it leaves behind when a signal ends it, at moments that a sanitizer would move.
if(NOT TESSERA_SANITIZE)
  tessera_test(check_interrupt_test LABELS simt check LIBRARIES nlohmann_json::nlohmann_json)
endif()
if(TARGET check_interrupt_test)
  add_dependencies(check_interrupt_test tessera_cli)
  target_link_libraries(check_interrupt_test PRIVATE tessera_test_cli)
  target_compile_definitions(check_interrupt_test PRIVATE TESSERA_CLI="$<TARGET_FILE:tessera_cli>")
endif()
