// What each rule of the checker means.
#pragma once

#include <string>
#include <vector>

namespace tessera::simt {

/// Rules of access quality: warnings, which leave the exit code alone.
namespace rule {
inline constexpr char kBankConflict[] = "bank-conflict";
inline constexpr char kUncoalesced[] = "uncoalesced";
inline constexpr char kFewUsefulBytes[] = "few-useful-bytes";
}  // namespace rule

struct RuleText {
  const char* id;
  const char* title;    ///< a noun phrase
  const char* meaning;  ///< what the program did
  const char* harm;     ///< why it matters
  const char* remedy;   ///< how to mend it
  bool is_error;
};

/// Every rule, findings first.
const std::vector<RuleText>& rules();
/// Null for an id that is no rule.
const RuleText* find_rule(const std::string& id);

}  // namespace tessera::simt
