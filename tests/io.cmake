# Files: the readers, the writer, and NumPy as an independent reader and writer.
if(NOT TARGET tessera_io)
  return()
endif()
foreach(name IN ITEMS convert npy safetensors open output)
  tessera_test(${name}_test LABELS cpu io LIBRARIES tessera_io)
endforeach()

tessera_test_wanted(wanted numpy_io_test)
if(wanted AND TESSERA_TEST_PYTHON)
  add_executable(io_dump io_dump.cc)
  target_link_libraries(io_dump PRIVATE tessera_io fmt::fmt)
  tessera_warnings(io_dump)
  tessera_add_test(numpy_io_test LABELS cpu io COMMAND ${TESSERA_TEST_PYTHON}
    ${CMAKE_CURRENT_SOURCE_DIR}/numpy_io_test.py $<TARGET_FILE:io_dump>)
endif()
