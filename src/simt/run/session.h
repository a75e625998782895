// One run of a checked program, in a process of its own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "simt/gemm/driver.h"
#include "simt/gemm/judge.h"
#include "simt/gemm/roles.h"
#include "simt/model.h"
#include "simt/run/memory.h"
#include "simt/run/symbols.h"
#include "simt/run/worker.h"

namespace tessera::simt {

/// Access width that the GPU's compiler chose at a line, see report/cubin.h.
struct LineWidth {
  std::string kernel;  ///< see comparable_name()
  std::string file;    ///< base name
  int line = 0;
  bool is_shared = false, is_write = false;
  CompiledWidth width;
};

/// A product that a lone kernel is run on.
struct DriveSizes {
  std::int64_t m = 0, n = 0, k = 0;
  std::string element = "float";    ///< of A and B
  std::string element_c = "float";  ///< of C and D
  double alpha = 1, beta = 0;
  bool c_is_read = false;
  bool has_d = false;         ///< the product goes to D, and C is an input
  bool column_major = false;  ///< all matrices; see gemm/column_major.h
  std::string kernel;
  Place place;
  /// Of a function that launches by itself: its names of M, N and K, or the first alone where all
  /// are one. Empty: it does not.
  std::array<std::string, 3> size_names;
};

struct RunOptions {
  std::string image;  ///< the shared object
  std::string words_folder;
  std::string source_path;
  Watch watch;
  int workers = 1;
  double time_limit_s = 60;
  Limits limits;
  std::uint64_t max_accesses = 400'000'000;  ///< watched ones, about: beyond, blocks are sampled
  std::vector<std::string> arguments;        ///< of a program with main
  bool has_drive = false;                    ///< simt_drive instead of main
  DriveSizes drive;
  std::string product_file;  ///< takes the matrices of a drive, see elements.h
  std::vector<LineWidth> widths;
  enum class Output { kStdout, kStderr, kNowhere } output = Output::kStdout;  ///< the program's own
};

/// "const float* A, int n" -> A and n with their types.
std::vector<Parameter> parse_parameters(const char* text);

/// Runs the image in a child process and returns what it found. Throws Error(kUnsupported) when
/// the program asks for what the executor lacks, Error(kDeviceFailure) when it cannot be run.
RunResult run(const RunOptions& options);

/// What a run finds whose host code did not end, or ended with a signal; the place may be unknown.
Finding late_host(const RunOptions& options, const Place& place);
Finding crashed_host(const RunOptions& options, int signal, const Place& place);

class Session {
 public:
  static Session& get();

  explicit Session(const RunOptions& options);
  ~Session();
  void load();
  /// main or simt_drive; returns the program's exit code.
  int run_program();
  RunResult finish();

  // --- called by the program
  int launch(const simt_launch& launch);
  void launch_bounds(unsigned max_threads);
  void allow_dynamic_shared(const void* function, std::size_t bytes);
  int allocate(void** p, std::size_t bytes, int memory);
  int release(void* p);
  int copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
           std::size_t width, std::size_t rows, int kind, void* pc);
  int set(void* to, int value, std::size_t bytes, void* pc);
  bool is_global(const void* p) { return memory_.find(reinterpret_cast<std::uintptr_t>(p)); }
  int last_error(bool clear);
  void set_error(int error) { error_ = error; }
  [[noreturn]] void unsupported(const std::string& what);

  // --- for signals
  bool is_launching() const { return state_ != nullptr; }
  bool is_own_code(std::uintptr_t instruction) const {
    return instruction - memory_.image_low < memory_.image_high - memory_.image_low;
  }
  /// Of the run's time, what was not a launch's.
  double host_time_s() const { return now_s() - started_s_ - launches_s_; }
  /// The host's code has stopped with a signal, or is late (SIGALRM).
  void note_host_end(int signal, std::uintptr_t instruction);

 private:
  struct Done {                                   // a launch that ran, to tell repeats
    std::uint64_t version = 0, host_version = 0;  // of memory, when it was watched last
    std::size_t index = 0;
    bool can_skip = false;
  };

  bool is_worth_another_look(const Done& earlier, const std::string& kernel);
  int refuse(const simt_launch& launch, int error, std::string message, std::string remedy);
  void prepare(const simt_launch& launch, LaunchState& state);
  void run_quietly(const simt_launch& launch);
  static Place place_of(const simt_launch& launch);
  bool check_configuration(const simt_launch& launch, int& error);
  bool check_resources(const simt_launch& launch, const LaunchState& state, int& error);
  std::uint64_t allowed_shared(const simt_launch& launch) const;
  std::string key_of(const simt_launch& launch) const;
  std::string name_of(const simt_launch& launch) const;
  const simt_kernel* kernel_of(const simt_launch& launch) const;
  void name_pointers(const simt_launch& launch, LaunchState& state) const;
  void run_blocks(LaunchState& state, const simt_launch& launch, Launch& record, bool watched);
  void run_rest(const simt_launch& launch, const std::vector<bool>& ran, Launch& record);
  bool is_late() const;
  void give_up(const simt_launch& launch);
  void merge_blocks();
  void collect(const LaunchState& state, const std::string& kernel);
  void judge_launch(const simt_launch& launch, const LaunchState& state, Launch& record);
  int drive();
  /// A launch is only looked at; false: this is no such time.
  bool pretend_launch(const simt_launch& launch);
  [[noreturn]] void find_limits(const DriveArguments& x, void (*entry)(const DriveArguments*),
                                int out);
  void note_limits(const DriveArguments& x, void (*entry)(const DriveArguments*));
  void test_neighbours(const DriveArguments& x, void (*entry)(const DriveArguments*));
  /// Where the host is in the program's own code; without a file outside of it.
  Place host_place(std::uintptr_t instruction);
  Place load_place(const void* matrix, const Place& otherwise);
  Place store_place(const void* matrix, const Place& otherwise);
  Place first_place(const void* matrix, bool write, const Place& otherwise);
  /// crosses_warps: some race of the launch is between threads of two warps.
  Finding finding_of(const RawFinding& raw, const std::string& kernel, bool crosses_warps);
  void add(Finding finding);

  const RunOptions& options_;
  void* image_ = nullptr;
  std::uintptr_t image_low_ = 0;
  std::unique_ptr<Symbols> symbols_;
  Memory memory_;
  std::vector<std::unique_ptr<Worker>> workers_;
  RunResult result_;
  int error_ = 0;
  int serial_ = 0;
  std::map<const void*, std::size_t> allowed_shared_;
  std::size_t allowed_anywhere_ = 0;
  std::map<std::string, Done> done_;
  LaunchState* state_ = nullptr;
  double started_s_ = 0, launches_s_ = 0;
  std::uint64_t watched_accesses_ = 0;
  int looks_again_ = 0;
  bool out_of_time_ = false;
  bool sampled_ = false;
  bool was_refused_ = false;
  bool uses_managed_ = false;  ///< memory that the host reads without a copy
  std::thread::id thread_ = std::this_thread::get_id();  ///< that the program's main runs in
  bool quiet_ = false;      ///< launches run unwatched and leave no record
  bool pretends_ = false;   ///< launches do not run, and memory is neither given nor touched
  int pretended_axis_ = 0;  ///< of a grid that was too large: 1 is y, 2 is z; else 0
  std::set<std::string> notes_;
  std::map<std::pair<std::string, std::string>, std::int64_t> shared_pitch_;  // kernel, array
};

}  // namespace tessera::simt
