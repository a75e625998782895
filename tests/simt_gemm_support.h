// Parameters and kernels as the front end hands them over, written briefly.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simt/source/translate.h"
#include "support/errors.h"

namespace tessera::simt {

/// "const float* A, int n": the last word of each is its name.
inline std::vector<Parameter> parameters(const std::string& text) {
  std::vector<Parameter> out;
  std::string word;
  for (char c : text + ",") {
    if (c != ',') {
      word += c;
      continue;
    }
    const std::size_t from = word.find_first_not_of(' ');
    if (from != std::string::npos) {
      const std::size_t at = word.find_last_of(' ');
      out.push_back({word.substr(from, at - from), word.substr(at + 1)});
    }
    word.clear();
  }
  return out;
}

inline Signature kernel(const std::string& name, const std::string& arguments,
                        const std::string& body = "", const std::string& template_arguments = "") {
  Signature out;
  out.name = out.qualified_name = name;
  out.file = "k.cu";
  out.line = 7;
  out.parameters = parameters(arguments);
  out.template_parameters = parameters(template_arguments);
  out.body = body;
  out.uses_thread_y = body.empty() || body.find("threadIdx.y") != std::string::npos;
  return out;
}

}  // namespace tessera::simt
