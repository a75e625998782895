#include "bench/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "tessera/error.h"

namespace tessera::bench {
namespace {

[[noreturn]] void unsupported(const std::string& message) {
  throw Error(ErrorCode::kUnsupported, message);
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& file)
    : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)), path_(file) {
  if (handle_ == nullptr) {
    const char* why = dlerror();
    unsupported(why != nullptr ? why : file + ": cannot be opened");
  }
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0') path_ = map->l_name;
}

void* SharedLibrary::find(const char* name, bool required) const {
  void* const symbol = dlsym(handle_, name);
  if (symbol == nullptr && required) {
    unsupported(fmt::format("{}: has no function {}", path_, name));
  }
  return symbol;
}

}  // namespace tessera::bench
