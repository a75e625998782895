# The Python package, where ./dev test has installed it; of one build tree only.
if(NOT TESSERA_TEST_PREFIX)
  tessera_add_test(python_test LABELS cpu python TIMEOUT 1500
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python_test.sh ${PROJECT_SOURCE_DIR}/build/python)
endif()
