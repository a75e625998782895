// What a launch and its pointers are called.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "simt/run/session.h"

namespace tessera::simt {

std::vector<Parameter> parse_parameters(const char* text) {
  std::vector<Parameter> all;
  std::string part;
  int depth = 0;
  const auto finish = [&] {
    std::size_t end = part.find_last_not_of(" \t\n");
    if (end == std::string::npos) return;
    std::size_t begin = end + 1;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(part[begin - 1])) != 0 ||
                         part[begin - 1] == '_')) {
      --begin;
    }
    Parameter p{part.substr(0, begin), part.substr(begin, end + 1 - begin)};
    p.type.erase(0, p.type.find_first_not_of(" \t\n"));
    p.type.erase(p.type.find_last_not_of(" \t\n") + 1);
    all.push_back(std::move(p));
    part.clear();
  };
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '<' || *c == '(' || *c == '[') ++depth;
    if (*c == '>' || *c == ')' || *c == ']') --depth;
    if (*c == ',' && depth == 0) {
      finish();
    } else {
      part += *c;
    }
  }
  finish();
  return all;
}

Place Session::place_of(const simt_launch& launch) {
  const simt_launch_site& site = *launch.site;
  return {site.file == nullptr ? "" : site.file, site.line, 0, ""};
}

std::string Session::key_of(const simt_launch& launch) const {
  std::string key = fmt::format(
      "{}|{}|{}|{},{},{}|{},{},{}|{}", launch.function, launch.site->expression,
      launch.function == nullptr ? launch.site->line : 0, launch.grid.x, launch.grid.y,
      launch.grid.z, launch.block.x, launch.block.y, launch.block.z, launch.dynamic_shared_bytes);
  for (int i = 0; i < launch.argument_count; ++i) {
    const simt_argument& a = launch.arguments[i];
    if (a.kind == SIMT_OTHER) {  // a structure: its bytes, whatever they mean
      key += '|';
      key.append(static_cast<const char*>(a.pointer), a.pointer == nullptr ? 0 : a.element_bytes);
    } else {
      key += fmt::format("|{},{},{},{}", a.kind, a.pointer, a.integer, a.real);
    }
  }
  return key;
}

// The words of a launch may name a pointer or a template's parameters; what runs follows from the
// address.
std::string Session::name_of(const simt_launch& launch) const {
  if (launch.function == nullptr) return launch.site->expression;
  const Symbol* symbol =
      symbols_->find(reinterpret_cast<std::uintptr_t>(launch.function) - image_low_);
  return symbol == nullptr ? launch.site->expression : short_name(symbol->name);
}

const simt_kernel* Session::kernel_of(const simt_launch& launch) const {
  if (launch.site->kernel != nullptr) return launch.site->kernel;
  std::string name = name_of(launch);
  name.resize(std::min(name.size(), name.find('<')));
  const auto* table = static_cast<const simt_kernel* const*>(dlsym(image_, "simt_kernels"));
  for (; table != nullptr && *table != nullptr; ++table) {
    const std::string known = (*table)->name;
    const std::size_t colon = known.rfind("::");
    if (known.substr(colon == std::string::npos ? 0 : colon + 2) == name) return *table;
  }
  return nullptr;
}

void Session::name_pointers(const simt_launch& launch, LaunchState& state) const {
  std::vector<Parameter> parameters;
  if (const simt_kernel* kernel = kernel_of(launch)) {
    parameters = parse_parameters(kernel->parameters);
  }
  for (int i = 0; i < launch.argument_count; ++i) {
    const simt_argument& a = launch.arguments[i];
    if (a.kind != SIMT_POINTER) continue;
    NamedPointer p;
    p.base = reinterpret_cast<std::uintptr_t>(a.pointer);
    p.element_bytes = std::max<std::size_t>(a.element_bytes, 1);
    p.is_const = a.is_const;
    p.name = i < static_cast<int>(parameters.size()) ? parameters[i].name
                                                     : fmt::format("argument {}", i + 1);
    state.pointers.push_back(std::move(p));
  }
  // Of two names for one place the writable one is last, and so the one that is found.
  std::stable_sort(state.pointers.begin(), state.pointers.end(),
                   [](const NamedPointer& x, const NamedPointer& y) {
                     return x.base != y.base ? x.base < y.base : x.is_const > y.is_const;
                   });
}

}  // namespace tessera::simt
