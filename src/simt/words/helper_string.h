// Arguments of the command line, as CUDA's sample programs read them: -name=value, --name=value.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <fstream>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, bytes, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(file) (file == NULL)
#define SSCANF sscanf
#define SPRINTF sprintf

inline int stringRemoveDelimiter(char delimiter, const char* text) {
  int i = 0;
  while (text[i] == delimiter) ++i;
  return text[i] == 0 ? 0 : i;
}

/// What follows `-name`: "" or "=value"; null when no argument has that name.
inline const char* simt_argument_tail(int argc, const char** argv, const char* name) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; ++i) {
    const char* text = argv[i] + stringRemoveDelimiter('-', argv[i]);
    if (strncasecmp(text, name, length) != 0) continue;
    if (text[length] == 0 || text[length] == '=') return text + length;
  }
  return nullptr;
}
inline const char* simt_argument_value(int argc, const char** argv, const char* name) {
  const char* tail = simt_argument_tail(argc, argv, name);
  return tail != nullptr && tail[0] == '=' ? tail + 1 : tail;
}

inline bool checkCmdLineFlag(int argc, const char** argv, const char* name) {
  return simt_argument_tail(argc, argv, name) != nullptr;
}
inline int getCmdLineArgumentInt(int argc, const char** argv, const char* name) {
  const char* value = simt_argument_value(argc, argv, name);
  return value == nullptr ? 0 : atoi(value);
}
inline float getCmdLineArgumentFloat(int argc, const char** argv, const char* name) {
  const char* value = simt_argument_value(argc, argv, name);
  return value == nullptr ? 0.0f : float(atof(value));
}
inline bool getCmdLineArgumentString(int argc, const char** argv, const char* name, char** text) {
  const char* value = simt_argument_value(argc, argv, name);
  *text = const_cast<char*>(value);
  return value != nullptr;
}
template <class T>
inline bool getCmdLineArgumentValue(int argc, const char** argv, const char* name, T* result) {
  const char* value = simt_argument_value(argc, argv, name);
  if (value != nullptr) *result = T(atoi(value));
  return value != nullptr;
}

/// The file beside the program or in the data folders near it; null when it is in none. The caller
/// frees the path.
inline char* sdkFindFilePath(const char* name, const char* program) {
  std::string folder = program == nullptr ? "" : program;
  const size_t slash = folder.rfind('/');
  folder = slash == std::string::npos ? "." : folder.substr(0, slash);
  const std::string places[] = {".", "./data", folder, folder + "/data", "..", "../data"};
  for (const std::string& place : places) {
    const std::string path = place + "/" + name;
    if (std::ifstream(path).good()) return strdup(path.c_str());
  }
  return nullptr;
}
