// The words and signs of a piece of C++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::simt {

/// Identifiers, numbers and operators; comments, literals of text and line markers are left out.
std::vector<std::string> tokens(std::string_view text);

bool is_identifier(std::string_view token);

/// The position of the bracket that closes the one at `open`, or the end.
std::size_t closing(const std::vector<std::string>& tokens, std::size_t open);

}  // namespace tessera::simt
