// What the user sees of a check.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// What a cubin says of one kernel, and what that means on its chip.
struct Compiled {
  std::string kernel;        ///< demangled
  std::string architecture;  ///< "sm_90"
  int registers = 0, spill_bytes = 0, stack_bytes = 0;
  std::int64_t static_shared_bytes = 0;
  // Occupancy for the launch's block and dynamic shared memory.
  int blocks_per_sm = 0;
  double occupancy = 0;    ///< resident warps of those that a multiprocessor can hold
  std::string limited_by;  ///< "registers", "shared memory", "threads", "blocks"
};

/// Everything that a report is made of.
struct Report {
  std::string path;        ///< of the checked source, as given
  std::string source;      ///< its text
  RunResult check, count;  ///< the two runs
  std::vector<Compiled> compiled;
  std::vector<std::string> notes;
  std::string how;   ///< how a lone kernel was launched
  std::string hint;  ///< a note that explains all findings, or empty
  bool failed() const { return !check.findings.empty(); }
  double elapsed_s = 0;
};

/// A remark about access quality that is worth a change of the source.
struct Warning {
  std::string rule;     ///< "bank-conflict", "uncoalesced", "few-useful-bytes"
  std::string message;  ///< with counts
  std::string remedy;   ///< the index swap or the pitch that mends it
  std::string array;
  Place place;
};
std::vector<Warning> warnings(const Report& report);

std::string text_report(const Report& report, bool colour);
Json json_report(const Report& report);         ///< documented in docs/checker.md
Json sarif_report(const Report& report);        ///< SARIF 2.1.0
std::string html_report(const Report& report);  ///< one file, no scripts from elsewhere

}  // namespace tessera::simt
