# Writes the FILES of FOLDER into OUTPUT as a C++ table of names and texts.
set(table "")
foreach(path IN LISTS FILES)
  file(RELATIVE_PATH name ${FOLDER} ${path})
  file(READ ${path} text)
  string(APPEND table "    {\"${name}\", R\"simt_word(${text})simt_word\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "#include \"simt/source/words.h\"\n
namespace tessera::simt {
const std::vector<Word>& words() {
  static const std::vector<Word> all = {\n${table}  };
  return all;
}
}  // namespace tessera::simt\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
