# Files that stand alone where many are compiled as one (CMAKE_UNITY_BUILD, as the presets with
# sanitizers do to save the time of the headers): those compiled once for each instruction set, and
# those whose own names are another file's too.
function(tessera_stand_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
