# Warnings and sanitizers, the same for every target of the project.
function(tessera_warnings target)
  set(warnings -Wall -Wextra -Wnon-virtual-dtor)
  # Compiled as one, a file's names would be said to shadow those of another.
  if(NOT CMAKE_UNITY_BUILD)
    list(APPEND warnings -Wshadow)
  endif()
  # gcc 12 and 13 warn of overlapping copies inside std::string's operator+ (GCC PR 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    list(APPEND warnings -Wno-restrict)
  endif()
  if(TESSERA_WERROR)
    list(APPEND warnings -Werror)
  endif()
  foreach(flag IN LISTS warnings)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${flag}>)
  endforeach()
endfunction()

if(TESSERA_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TESSERA_SANITIZE}>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${TESSERA_SANITIZE})
  if(TESSERA_SANITIZE MATCHES "undefined")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
endif()
