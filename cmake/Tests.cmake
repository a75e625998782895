# ctest entries: one function makes them all, so that prefix and filter hold for each.
#
# TESSERA_TEST_PREFIX  before every test's name, to tell build trees apart in one ctest run
# TESSERA_TEST_FILTER  regular expression: only tests whose name matches are built
set(TESSERA_TEST_PREFIX "" CACHE STRING "Prefix of test names")
set(TESSERA_TEST_FILTER "." CACHE STRING "Which tests to build")

# tessera_test_wanted(OUT NAME...): does the filter let one of these names through?
function(tessera_test_wanted out)
  set(${out} OFF PARENT_SCOPE)
  foreach(name IN LISTS ARGN)
    if(name MATCHES "${TESSERA_TEST_FILTER}")
      set(${out} ON PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# tessera_add_test(NAME COMMAND c... [LABELS l...] [ENVIRONMENT v=x...] [TIMEOUT s]
# [SKIP_REGULAR_EXPRESSION r]): a ctest entry. Exit code 77 is "skipped", as is output that matches.
function(tessera_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;SKIP_REGULAR_EXPRESSION" "COMMAND;LABELS;ENVIRONMENT" ${ARGN})
  tessera_test_wanted(wanted ${name})
  if(NOT wanted)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  set(full ${TESSERA_TEST_PREFIX}${name})
  add_test(NAME ${full} COMMAND ${arg_COMMAND})
  set_tests_properties(${full} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    SKIP_RETURN_CODE 77 ENVIRONMENT "${arg_ENVIRONMENT}")
  if(arg_SKIP_REGULAR_EXPRESSION)
    set_tests_properties(${full} PROPERTIES
      SKIP_REGULAR_EXPRESSION "${arg_SKIP_REGULAR_EXPRESSION}")
  endif()
endfunction()
