// CUDA's words before functions and variables: most vanish, a few have a C++ counterpart.
#include <algorithm>
#include <array>

#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

constexpr std::array<std::string_view, 8> kVanishing = {
    "__global__",  "__device__",        "__host__",        "__constant__",
    "__managed__", "__grid_constant__", "__tile_global__", "__nv_pure__"};

bool is_vanishing(const Token& token) {
  return std::find(kVanishing.begin(), kVanishing.end(), token.text) != kVanishing.end();
}

/// Within __attribute__((...)) the words are the compiler's own.
bool in_attribute(const Tokens& tokens, std::size_t i) {
  return i > 0 && (tokens.is(i - 1, "(") || tokens.is(i - 1, ","));
}

/// A word and its arguments vanish.
void drop_with_arguments(const Program& program, std::size_t i) {
  const std::size_t close = program.tokens.is(i + 1, "(") ? program.tokens.partner[i + 1] : i;
  if (close == Tokens::npos) return;
  program.edits.blank(i, close + 1);
}

void rewrite_word(const Program& program, std::size_t i) {
  const Tokens& tokens = program.tokens;
  const Token& token = tokens[i];
  if (is_vanishing(token)) {
    program.edits.blank(i, i + 1);
  } else if (token.is("__launch_bounds__") || token.is("__maxnreg__") ||
             token.is("__block_size__")) {
    drop_with_arguments(program, i);
  } else if (token.is("__cluster_dims__")) {
    program.refuse(i, "__cluster_dims__", "Clusters of thread blocks are not run.");
    drop_with_arguments(program, i);
  } else if (token.is("__forceinline__")) {
    program.edits.replace(i, "simt_inline    ");
  } else if (token.is("__noinline__") && !in_attribute(tokens, i)) {
    program.edits.replace(i, "simt_outline");
  } else if (token.is("__align__") && tokens.is(i + 1, "(")) {
    program.edits.replace(i, "simt_algn");
  }
}

/// Of a shared declaration its own step has dealt with the alignment.
bool in_shared_declaration(const Tokens& tokens, std::size_t i) {
  for (std::size_t j = i; j < tokens.size() && !tokens[j].is(";") && !tokens[j].is("{"); ++j) {
    if (tokens[j].is("__shared__")) return true;
  }
  for (std::size_t j = i; j > 0 && !tokens[j].is(";") && !tokens[j].is("{") && !tokens[j].is("}");
       --j) {
    if (tokens[j].is("__shared__")) return true;
  }
  return false;
}

/// In a kernel clock() counts the multiprocessor's cycles; elsewhere it is the C library's.
bool is_device_clock(const Program& program, std::size_t i) {
  const Tokens& tokens = program.tokens;
  if (!tokens[i].is("clock") || !tokens.is(i + 1, "(") || !tokens.is(i + 2, ")")) return false;
  const Function* around = program.declarations.around(i);
  return around != nullptr && around->device_only();
}

}  // namespace

void rewrite_qualifiers(const Program& program) {
  const Tokens& tokens = program.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_device_clock(program, i)) program.edits.replace(i, "clock64");
    if (!tokens[i].text.starts_with("__")) continue;
    if (tokens[i].is("__align__") && in_shared_declaration(tokens, i)) continue;
    rewrite_word(program, i);
  }
  for (const Function& function : program.declarations.functions) {
    if (!function.has_body) continue;
    const std::size_t brace = function.body.first - 1;
    if (function.is_global) {
      for (std::size_t i = function.declaration.first; i < function.declaration.last; ++i) {
        if (!tokens[i].is("__launch_bounds__") || !tokens.is(i + 1, "(")) continue;
        const std::size_t close = tokens.partner[i + 1];
        if (close == Tokens::npos) continue;
        const std::vector<Range> bounds = split_at_commas(tokens, {i + 2, close});
        if (bounds.empty()) continue;
        const std::string least =
            bounds.size() > 1 ? tokens.join(bounds[1].first, bounds[1].last) : "0";
        program.edits.insert_behind(brace, " ::simt_launch_bounds(" +
                                               tokens.join(bounds[0].first, bounds[0].last) + ", " +
                                               least + ");");
      }
    } else if (function.parameters.last + 1 == brace && !function.is_device &&
               !function.is_constexpr && function.templates.empty() && !function.in_class) {
      // Only the device's accesses are of interest; the host's reference product should be fast.
      program.edits.insert_before(brace, "simt_quiet ");
    }
  }
}

}  // namespace tessera::simt
