#include "simt/gemm/types.h"

#include <map>
#include <set>

#include "simt/gemm/tokens.h"

namespace tessera::simt {
namespace {

std::string element_of(const std::string& base) {
  static const std::map<std::string, std::string> kElements = {
      {"float", "float"},           {"float2", "float"},
      {"float4", "float"},          {"double", "double"},
      {"double2", "double"},        {"half", "half"},
      {"__half", "half"},           {"half2", "half"},
      {"__half2", "half"},          {"__nv_bfloat16", "bfloat16"},
      {"nv_bfloat16", "bfloat16"},  {"__nv_bfloat162", "bfloat16"},
      {"nv_bfloat162", "bfloat16"}, {"int", "int"},
      {"int32_t", "int"},           {"int4", "int"}};
  const auto found = kElements.find(base);
  return found == kElements.end() ? "" : found->second;
}

bool is_integer(const std::string& base) {
  static const std::set<std::string> kIntegers = {"int",
                                                  "unsigned",
                                                  "unsigned int",
                                                  "uint",
                                                  "size_t",
                                                  "long",
                                                  "long int",
                                                  "unsigned long",
                                                  "long long",
                                                  "unsigned long long",
                                                  "int32_t",
                                                  "uint32_t",
                                                  "int64_t",
                                                  "uint64_t",
                                                  "short",
                                                  "ptrdiff_t",
                                                  "unsigned short",
                                                  "long long int",
                                                  "unsigned long int",
                                                  "unsigned long long int",
                                                  "__int32_t",
                                                  "__int64_t"};
  return kIntegers.count(base) > 0;
}

}  // namespace

ParameterType type_of(const std::string& type) {
  ParameterType out;
  std::string base;
  int stars = 0;
  bool other = false;
  for (const std::string& t : tokens(type)) {
    if (t == "*" || t == "[") {
      ++stars;
    } else if (t == "const") {
      out.is_const = out.is_const || stars == 0;
    } else if (t == "]" || t == "std" || t == "::" || t == "volatile" || t == "struct" ||
               t == "__restrict__" || t == "__restrict" || t == "restrict") {
      continue;
    } else if (is_identifier(t)) {
      base += (base.empty() ? "" : " ") + t;
    } else {
      other = true;
    }
  }
  if (other || stars > 1 || base.empty()) return out;
  const std::string element = element_of(base);
  if (stars == 1) {
    out.kind = TypeKind::kPointer;
    out.element = element;
  } else if (is_integer(base)) {
    out.kind = TypeKind::kInteger;
  } else if (!element.empty()) {
    out.kind = TypeKind::kReal;
  }
  return out;
}

std::string listed(const std::vector<Parameter>& parameters) {
  std::string out = "(";
  for (const Parameter& p : parameters) {
    out += (out.size() == 1 ? "" : ", ") + p.type + (p.name.empty() ? "" : " " + p.name);
  }
  return out + ")";
}

std::string resolved(const std::string& type, const std::vector<Constant>& aliases) {
  std::string out;
  bool changed = false;
  for (const std::string& t : tokens(type)) {
    std::string word = t;
    for (const Constant& alias : aliases) {
      if (alias.name != t) continue;
      word = alias.value;
      changed = true;
    }
    const bool apart = !out.empty() && is_identifier(word);
    out += (apart ? " " : "") + word;
  }
  return changed ? out : type;
}

}  // namespace tessera::simt
