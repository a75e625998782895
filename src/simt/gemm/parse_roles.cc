// Roles as the user gives them.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "simt/gemm/names.h"
#include "simt/gemm/roles.h"
#include "simt/gemm/types.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

constexpr Role kAll[] = {Role::kA,     Role::kB,    Role::kC,     Role::kD,   Role::kM,
                         Role::kN,     Role::kK,    Role::kLda,   Role::kLdb, Role::kLdc,
                         Role::kAlpha, Role::kBeta, Role::kSquare};

[[noreturn]] void refuse(const std::string& text, const std::string& rule) {
  throw Error(ErrorCode::kInvalidArgument, "check: --roles '" + text + "': " + rule);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::string word;
  for (char c : text + ",") {
    if (c == ',') {
      out.push_back(word);
      word.clear();
    } else if (c != ' ') {
      word += c;
    }
  }
  return out;
}

std::string lower(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

Role role_of(const std::string& text, const std::string& word) {
  for (Role role : kAll) {
    if (lower(word_of(role)) == lower(word)) return role;
  }
  refuse(text, "'" + word +
                   "' is none of A, B, C, D, M, N, K, lda, ldb, ldc, alpha, beta, square, and no "
                   "name=NUMBER");
}

/// The number of "name=NUMBER", which must fit the parameter.
std::string constant_of(const std::string& text, const std::string& word, std::size_t sign,
                        const Parameter& parameter) {
  const std::string said = "'" + parameter.type + " " + parameter.name + "'";
  if (word.substr(0, sign) != parameter.name) {
    refuse(text, "'" + word + "' stands for " + said + ": write " + parameter.name + "=NUMBER");
  }
  const std::string number = word.substr(sign + 1);
  const char *begin = number.data(), *end = begin + number.size();
  const TypeKind kind = type_of(parameter.type).kind;
  bool is_number = false;
  if (kind == TypeKind::kInteger) {
    std::int64_t value = 0;
    const auto read = std::from_chars(begin, end, value);
    is_number = read.ec == std::errc() && read.ptr == end;
    const auto names = [&](std::string_view part) {
      return parameter.type.find(part) != std::string::npos;
    };
    const bool is_short = !names("64") && !names("long") && !names("size_t");
    const bool is_unsigned = names("unsigned") || names("uint") || names("size_t");
    const bool fits = !is_short || (is_unsigned ? value <= std::numeric_limits<std::uint32_t>::max()
                                                : value == static_cast<std::int32_t>(value));
    if (is_number && (!fits || (is_unsigned && value < 0))) {
      refuse(text, "'" + word + "' does not fit " + said);
    }
  } else if (kind == TypeKind::kReal) {
    double value = 0;
    const auto read = std::from_chars(begin, end, value);
    is_number = read.ec == std::errc() && read.ptr == end && std::isfinite(value);
  } else {
    refuse(text, "'" + word + "' stands for " + said + ", which is no number");
  }
  if (!is_number) {
    refuse(text, "'" + word + "': " + (kind == TypeKind::kInteger ? "an integer" : "a number") +
                     " follows the =");
  }
  return number;
}

bool is_matrix(Role role) { return role <= Role::kD; }

void check_kind(const std::string& text, Role role, const Parameter& parameter) {
  const TypeKind kind = type_of(parameter.type).kind;
  const bool scalar = role == Role::kAlpha || role == Role::kBeta;
  const bool fits = is_matrix(role) ? kind == TypeKind::kPointer
                    : scalar        ? kind == TypeKind::kReal || kind == TypeKind::kInteger
                                    : kind == TypeKind::kInteger;
  if (fits) return;
  refuse(text, word_of(role) + " stands for '" + parameter.type + " " + parameter.name + "', but " +
                   (is_matrix(role) ? "a matrix is a pointer"
                    : scalar        ? "it is a number"
                                    : "it is an integer"));
}

}  // namespace

Roles parse_roles(const std::string& text, const std::vector<Parameter>& parameters) {
  const std::vector<std::string> words = split(text);
  if (words.size() != parameters.size()) {
    refuse(text, "one word a parameter, and " + listed(parameters) + " has " +
                     std::to_string(parameters.size()));
  }
  Roles out;
  out.constants.resize(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t sign = words[i].find('=');
    if (sign != std::string::npos) {
      out.constants[i] = constant_of(text, words[i], sign, parameters[i]);
      out.roles.push_back(Role::kConstant);
      continue;
    }
    const Role role = role_of(text, words[i]);
    check_kind(text, role, parameters[i]);
    const bool taken = std::find(out.roles.begin(), out.roles.end(), role) != out.roles.end();
    if (is_matrix(role) && taken) refuse(text, word_of(role) + " is given twice");
    out.roles.push_back(role);
  }
  const auto element = [&](Role role) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (out.roles[i] != role) continue;
      const std::string e = type_of(parameters[i].type).element;
      if (!e.empty()) return e;
      refuse(text, word_of(role) + " is of '" + parameters[i].type +
                       "'; elements are float, double, half, bfloat16 or int");
    }
    return std::string();
  };
  out.element = element(Role::kA);
  const std::string b = element(Role::kB), c = element(Role::kC), d = element(Role::kD);
  if (out.element.empty() || b.empty() || (c.empty() && d.empty())) {
    refuse(text, "A, B and C must be among them");
  }
  if (b != out.element) refuse(text, "A is of " + out.element + " and B of " + b);
  if (!c.empty() && !d.empty() && c != d) refuse(text, "C is of " + c + " and D of " + d);
  out.element_c = c.empty() ? d : c;
  // A lone D is an output like any C.
  if (c.empty()) std::replace(out.roles.begin(), out.roles.end(), Role::kD, Role::kC);
  const bool has_beta =
      std::find(out.roles.begin(), out.roles.end(), Role::kBeta) != out.roles.end();
  out.c_is_read = has_beta || (!c.empty() && !d.empty());
  return out;
}

}  // namespace tessera::simt
