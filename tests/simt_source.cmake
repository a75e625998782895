# From CUDA C++ as written to a shared object: translation, and the compiler's part of it.
if(TARGET tessera_simt)
  tessera_test(simt_translate_test LABELS simt LIBRARIES tessera_simt)
  tessera_test(simt_compile_test LABELS simt LIBRARIES tessera_simt)
endif()
