# `tessera check` on small kernels: the right ones without a finding, the planted fault of each wrong
# one at its line.
tessera_test(check_test LABELS simt check LIBRARIES nlohmann_json::nlohmann_json)
if(TARGET check_test)
  add_dependencies(check_test tessera_cli)
  target_compile_definitions(check_test PRIVATE
    TESSERA_PROGRAM="$<TARGET_FILE:tessera_cli>"
    TESSERA_KERNELS="${CMAKE_CURRENT_SOURCE_DIR}/check")
endif()
