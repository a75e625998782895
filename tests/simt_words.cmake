if(TARGET tessera_simt)
  tessera_test(simt_words_test LABELS simt LIBRARIES tessera_simt)
  if(TARGET simt_words_test)
    target_compile_definitions(simt_words_test PRIVATE
      TESSERA_WORDS_TESTS="${CMAKE_CURRENT_SOURCE_DIR}/simt_words")
  endif()
endif()
