// The exercise: a tiled matrix product with four blanks, and what is made of the learner's answer.
//
// write_exercise() writes tiled.cu and its explanation. A source is an answer when is_exercise()
// says so; it is then run at each of exercise_sizes() through its `solve`, and judge_exercise()
// maps what the runs found to the blanks, which the marker lines `// >>> blank 1` and `// <<< blank
// 1` delimit.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// Makes the folder if need be and returns the paths written: tiled.cu, README.md, README.zh-CN.md.
/// Throws Error(kInvalidArgument) that names a file that is there already, before it writes any,
/// and Error(kOutputFailure).
std::vector<std::string> write_exercise(const std::string& folder);

/// The files of the exercise by name.
struct ExerciseFile {
  std::string name, text;
};
const std::vector<ExerciseFile>& exercise_files();

/// Whether a source bears the exercise's first line.
bool is_exercise(const std::string& source);

/// M, N, K: whole tiles, one tile alone, then a tail in each of M, N and K, and in all.
std::vector<std::array<std::int64_t, 3>> exercise_sizes();

/// What a run at one size found.
struct SizeRun {
  std::int64_t m = 0, n = 0, k = 0;
  RunResult run;
};

enum class BlankState {
  kRight,
  kEmpty,
  kWrong,
  kUnseen,  ///< filled, but what it does shows only once others are
  kLost     ///< its marker lines are gone
};

struct BlankVerdict {
  int number = 0;      ///< 1 to 4
  std::string task;    ///< "barrier after the load"
  int first_line = 0;  ///< of its marker lines
  int last_line = 0;
  BlankState state = BlankState::kUnseen;
  std::string verdict;            ///< "missing; hazard: read-after-write on s_a, lines 31 and 44"
  std::string remedy;             ///< empty when it is right
  std::vector<Finding> findings;  ///< those put down to it
};

struct SizeVerdict {
  std::int64_t m = 0, n = 0, k = 0;
  bool passed = false;
  std::string rule;  ///< of the first finding
};

struct ExerciseVerdict {
  std::array<BlankVerdict, 4> blanks;
  std::vector<SizeVerdict> sizes;
  std::vector<Finding> others;  ///< findings outside of the blanks
  bool solved = false;          ///< every blank right and every size passed
  std::string summary;          ///< one line: which sizes work
};

/// One blank of an answer, the others as they should be.
struct BlankTrial {
  int number = 0;  ///< of the blank
  std::vector<SizeRun> runs;
};

/// Without trials a finding goes to the blank that its rule and place speak for; with one, the
/// blank's verdict is the trial's.
ExerciseVerdict judge_exercise(const std::string& source, const std::vector<SizeRun>& runs,
                               const std::vector<BlankTrial>& trials = {});

/// "right", "empty", "wrong", "not judged", "markers lost".
const char* to_string(BlankState state);
/// The verdict for people: each blank, the sizes, the summary.
std::string to_text(const ExerciseVerdict& verdict);
/// Described in docs/exercise.md.
Json to_json(const ExerciseVerdict& verdict);

}  // namespace tessera::simt
