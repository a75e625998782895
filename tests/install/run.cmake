# cmake -DBUILD=... -DSOURCE=... -P run.cmake: installs the build tree into a fresh prefix, builds
# the programs of examples/ against it with find_package(tessera), and runs them.
set(work ${BUILD}/install_test)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGN}\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/examples -B ${work}/examples -G Ninja
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix)
run(${CMAKE_COMMAND} --build ${work}/examples)
run(${work}/examples/hello_cpp)
run(${work}/examples/hello_c)
run(${work}/prefix/bin/tessera --version)
if(BLAS)
  file(GLOB_RECURSE library ${work}/prefix/libtessera_blas.so)
  if(NOT library)
    message(FATAL_ERROR "libtessera_blas.so was not installed")
  endif()
  run(${CMAKE_COMMAND} -E env LD_PRELOAD=${library} ${work}/examples/hello_c)
endif()
