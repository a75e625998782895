// A shared library opened at run time.
#pragma once

#include <string>

namespace tessera::bench {

/// Open for the life of the process: the libraries opened here have threads of their own, under
/// which their code cannot be taken away.
class SharedLibrary {
 public:
  /// A file name that the system searches for, or a path. Throws Error(kUnsupported) with the
  /// linker's words. Symbols are bound at once and stay private to the library: bound later, its
  /// calls could find the functions of another BLAS or OpenMP opened meanwhile.
  explicit SharedLibrary(const std::string& file);

  /// The function `name` of the library or of what it was linked with. Throws Error(kUnsupported).
  template <class Function>
  Function* get(const char* name) const {
    return reinterpret_cast<Function*>(find(name, true));
  }
  /// The same, null when there is none.
  template <class Function>
  Function* get_if(const char* name) const {
    return reinterpret_cast<Function*>(find(name, false));
  }
  /// The path of what was opened.
  const std::string& path() const { return path_; }

 private:
  void* find(const char* name, bool required) const;

  void* handle_;
  std::string path_;
};

}  // namespace tessera::bench
