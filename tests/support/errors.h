// What an Error says: its code, that it is one line, and what it names.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tessera/error.h"

namespace tessera::test {

/// The message of the Error that f throws; fails the test when it throws none or another code.
template <class F>
std::string error_of(ErrorCode code, F f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(code)) << e.what();
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << "one line: " << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no Error thrown";
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

#define EXPECT_SAYS(text, part) \
  EXPECT_TRUE(::tessera::test::contains(text, part)) << "message: " << (text)

}  // namespace tessera::test
