#include "simt/gemm/said_as.h"

#include <algorithm>
#include <cctype>

#include "simt/gemm/names.h"

namespace tessera::simt {
namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string own_name(const std::string& general, const std::vector<SaidAs>& names) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const SaidAs& n) { return n.general == general; });
  return found == names.end() ? general : found->own;
}

std::vector<SaidAs> sizes_among(std::vector<SaidAs> names) {
  std::erase_if(names, [](const SaidAs& n) {
    return n.general != "M" && n.general != "N" && n.general != "K";
  });
  return names;
}

/// A store past its row, a store to an input by way of a cast: told with the executor's names.
bool is_seen(const Finding& f) {
  return (f.rule == rule::kRowOverrun && f.other_place) ||
         (f.rule == rule::kInputWritten && f.thread);
}

}  // namespace

std::vector<SaidAs> own_names(const Roles& roles, const std::vector<Parameter>& parameters) {
  std::vector<SaidAs> out, sizes;
  const auto name_of = [&](Role role) {
    const auto at = std::find(roles.roles.begin(), roles.roles.end(), role);
    return at == roles.roles.end()
               ? std::string()
               : parameters[static_cast<std::size_t>(at - roles.roles.begin())].name;
  };
  for (const Role role : {Role::kA, Role::kB, Role::kC, Role::kD}) {
    if (const std::string own = name_of(role); !own.empty()) out.push_back({word_of(role), own});
  }
  bool has_all = true;
  for (const Role role : {Role::kM, Role::kN, Role::kK}) {
    std::string own = name_of(role);
    if (own.empty()) own = name_of(Role::kSquare);
    has_all = has_all && !own.empty();
    if (!own.empty()) sizes.push_back({word_of(role), own});
  }
  const auto is_mistaken = [](const SaidAs& n) {
    return n.own != n.general && (n.own == "M" || n.own == "N" || n.own == "K");
  };
  if (has_all || std::none_of(sizes.begin(), sizes.end(), is_mistaken)) {
    out.insert(out.end(), sizes.begin(), sizes.end());
  }
  return out;
}

std::string in_own_names(const std::string& text, const std::vector<SaidAs>& names) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word_char(text[end])) ++end;
    if (end == i) {
      out += text[i++];
      continue;
    }
    out += own_name(text.substr(i, end - i), names);
    i = end;
  }
  return out;
}

Finding in_own_names(Finding f, const std::vector<SaidAs>& names) {
  const bool is_judged = f.rule == rule::kWrongResult || f.rule == rule::kNeverWritten ||
                         f.rule == rule::kRowOverrun || f.rule == rule::kInputWritten;
  if (!is_judged) return f;
  if (is_seen(f)) {
    f.remedy = in_own_names(f.remedy, sizes_among(names));
    return f;
  }
  for (std::string* text : {&f.message, &f.remedy, &f.cause, &f.array, &f.at_fault}) {
    *text = in_own_names(*text, names);
  }
  return f;
}

}  // namespace tessera::simt
