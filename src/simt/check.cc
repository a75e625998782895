#include "simt/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "simt/causes.h"
#include "simt/hints.h"
#include "simt/memory_need.h"
#include "simt/nvcc_source.h"
#include "simt/report/cubin.h"
#include "simt/report/lost_lines.h"
#include "simt/run/elements.h"
#include "simt/source/compile.h"
#include "simt/source/edits.h"
#include "simt/source/translate.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

std::string read_file(const std::string& path) {
  const auto bad = [&](const std::string& what) {
    return Error(ErrorCode::kBadFile, fmt::format("check: {} {}", path, what));
  };
  // It is read more than once, by compilers too, which what comes through a descriptor cannot be.
  if (path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/") ||
      path.starts_with("/proc/self/fd/")) {
    throw bad("is no file that can be read twice: write the source to a file");
  }
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  if (exists && !std::filesystem::is_regular_file(path, ignored)) throw bad("is no regular file");
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in) throw Error(ErrorCode::kBadFile, fmt::format("check: cannot read {}", path));
  text = without_mark(text);
  if (text.find('\0') != std::string::npos) throw bad("is no text: it holds zero bytes");
  return text;
}

void refuse(const std::vector<Refusal>& refusals) {
  if (refusals.empty()) return;
  std::string message = "check: this program asks for what the executor cannot do";
  for (const Refusal& r : refusals) {
    message += fmt::format("\n  {}:{}: {}: {}", r.file, r.line, r.what, r.why);
  }
  throw Error(ErrorCode::kUnsupported, message);
}

/// What does not compile cannot be run; a flag that is not taken is another matter.
Error compile_error(const Error& error) {
  const bool is_usage = error.code() == ErrorCode::kInvalidArgument;
  return Error(is_usage ? error.code() : ErrorCode::kUnsupported, error.what());
}

Translation translated(const Source& source, const TemporaryFolder& folder) {
  try {
    return read_source(source, folder);
  } catch (const Error& error) {
    throw compile_error(error);
  }
}

std::string compiled(const Translation& program, const Source& source, Build build,
                     const TemporaryFolder& folder) {
  try {
    return compile(program, source, build, folder);
  } catch (const Error& error) {
    throw compile_error(error);
  }
}

/// As the run needs them.
std::vector<LineWidth> line_widths(const Cubin& cubin) {
  std::vector<LineWidth> widths;
  for (const CompiledWidths& w : cubin.widths) {
    widths.push_back({comparable_name(w.kernel),
                      w.file,
                      w.line,
                      w.is_shared,
                      w.is_write,
                      {w.bytes, w.count, w.sequence}});
  }
  return widths;
}

/// "tiled" of --kernel 'ns::tiled<16>'.
std::string named_kernel(const CheckOptions& options) {
  const std::string name = comparable_name(options.driver.kernel);
  return name.substr(0, name.find('<'));
}

/// The compiled kernels that were launched, with their occupancy.
void add_compiled(Report& report, const Cubin& cubin) {
  for (Compiled kernel : cubin.kernels) {
    for (const Launch& launch : report.check.launches) {
      if (comparable_name(kernel.kernel) != comparable_name(launch.kernel)) continue;
      const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
      add_occupancy(kernel, static_cast<int>(threads),
                    static_cast<std::int64_t>(launch.dynamic_shared_bytes));
      report.compiled.push_back(kernel);
      break;
    }
  }
}

std::string said(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

/// As DriveSizes has them.
std::array<std::string, 3> size_names(const Driver& driver) {
  const std::vector<Role>& roles = driver.roles.roles;
  const bool is_square = std::find(roles.begin(), roles.end(), Role::kSquare) != roles.end();
  std::array<std::string, 3> out;
  for (const auto& [at, letter] : {std::pair{0, "M"}, std::pair{1, "N"}, std::pair{2, "K"}}) {
    if (at == 0 || !is_square) out[at] = in_own_names(std::string(letter), driver.names);
  }
  return out;
}

/// alpha and beta differ from 1 and 0 where the kernel takes them, so that leaving one out shows.
DriveSizes drive_sizes(const Driver& driver, const Sizes& sizes) {
  DriveSizes d;
  d.m = sizes[0], d.n = sizes[1], d.k = sizes[2];
  d.element = driver.roles.element;
  d.c_is_read = driver.roles.c_is_read;
  const auto has = [&](Role role) {
    return std::find(driver.roles.roles.begin(), driver.roles.roles.end(), role) !=
           driver.roles.roles.end();
  };
  if (has(Role::kAlpha)) d.alpha = 1.5;
  d.element_c = driver.roles.element_c;
  d.has_d = has(Role::kD);
  d.column_major = driver.column_major;
  if (has(Role::kBeta)) {
    d.beta = -0.75;
  } else if (d.c_is_read) {
    d.beta = 1;
  }
  d.kernel = driver.kernel;
  d.place = driver.place();
  if (driver.launches_itself) d.size_names = size_names(driver);
  return d;
}

}  // namespace

class CheckedProgram::Parts {
 public:
  explicit Parts(CheckOptions given)
      : options(std::move(given)),
        text(read_file(options.path)),
        source_{options.path, options.flags, "", options.as_lone_kernel, named_kernel(options)},
        program_(translated(source_, folder)) {
    // main may be in a file beside this one.
    const bool may_have_main =
        program_.has_main || std::any_of(options.flags.begin(), options.flags.end(), is_source);
    if (!may_have_main && !source_.is_lone_kernel) {
      source_.is_lone_kernel = true;
      if (!program_.refusals.empty()) program_ = translated(source_, folder);
    }
    refuse(program_.refusals);
    compiled_from_ = program_;
    is_lone = !may_have_main || options.as_lone_kernel;
    check_options();
    if (is_lone) try_driver();
    if (is_lone) check_memory(need_, bytes_available());
  }

  Driver driver(const Sizes& sizes) const {
    DriverOptions wanted = options.driver;
    wanted.m = sizes[0], wanted.n = sizes[1], wanted.k = sizes[2];
    return make_driver(program_, wanted);
  }
  /// Those asked for, or sizes that suit the kernel.
  Sizes sizes() const {
    const DriverOptions& d = options.driver;
    if (d.m != 0) return {d.m, d.n, d.k};
    const Sizes any = {kDefaultM, kDefaultN, kDefaultK};
    return is_lone && has_one_size_ ? Sizes{kDefaultN, kDefaultN, kDefaultN} : any;
  }

  /// quiet: what the program prints goes nowhere.
  Report run(const Sizes& sizes, bool count, bool quiet = false);
  std::string product_file(const Sizes& sizes) const {
    return fmt::format("{}/product_{}", folder.path(), fmt::join(sizes, "_"));
  }

  const CheckOptions options;
  const TemporaryFolder folder;
  const std::string text;
  bool is_lone = false;

 private:
  void check_options() const;
  void try_driver();
  void set_drive(const Sizes& sizes, Report& report, RunOptions& run_options);
  void say_causes(Report& report) const;
  void start_nvcc();
  const std::string& image(Build build);
  RunResult count_accesses(RunOptions run_options, Report& report);

  double begun_s_ = now_s();
  Source source_;
  Translation program_;        // without a driver
  Translation compiled_from_;  // with one, if it needs one
  bool is_derived_ = false;    // block or grid
  std::vector<SaidAs> names_;  // of a lone kernel
  bool has_one_size_ = false;  // M = N = K
  MemoryNeed need_;            // of a lone kernel
  std::string images_[2];      // by build; each is touched by one thread of a run
  std::shared_future<Cubin> cubin_;
};

void CheckedProgram::Parts::check_options() const {
  const DriverOptions& d = options.driver;
  for (const auto& [name, value] :
       {std::pair{"--block", &d.block}, std::pair{"--grid", &d.grid},
        std::pair{"--shared", &d.shared}, std::pair{"--roles", &d.roles},
        std::pair{"--layout", &d.layout}}) {
    if (is_lone || value->empty()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("check: {} {}: {} is a program with main, which launches by itself; "
                            "with --kernel or --gemm its kernel is run alone",
                            name, *value, options.path));
  }
  if (is_lone && !options.arguments.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("check: --run is for a program with main; of {} a kernel is run alone",
                            options.path));
  }
}

/// Before anything else that could be said of a file comes what its compiler says.
void CheckedProgram::Parts::try_driver() {
  const Sizes same = {kDefaultN, kDefaultN, kDefaultN};
  try {
    const Driver made = driver(options.driver.m == 0 ? same : sizes());
    const std::vector<Role>& roles = made.roles.roles;
    has_one_size_ = std::find(roles.begin(), roles.end(), Role::kSquare) != roles.end();
    need_ = {sizes(),
             static_cast<std::int64_t>(element_bytes(made.roles.element)),
             static_cast<std::int64_t>(element_bytes(made.roles.element_c)),
             std::find(roles.begin(), roles.end(), Role::kD) != roles.end(),
             options.count,
             options.max_accesses};
  } catch (const Error&) {
    compiled(program_, source_, Build::kCheck, folder);
    if (program_.kernels.empty() && program_.solves.empty()) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("check: {} has no __global__ function and no solve(A, B, C, M, N, K)",
                              options.path));
    }
    throw;
  }
}

/// The driver reads the sizes when it runs, so that one serves all of them.
void CheckedProgram::Parts::set_drive(const Sizes& sizes, Report& report, RunOptions& run_options) {
  const Driver made = driver(sizes);
  if (source_.appended.empty()) {
    source_.appended = made.text;
    compiled_from_ = translated(source_, folder);
    refuse(compiled_from_.refusals);
  }
  report.how = made.how;
  names_ = made.names;
  is_derived_ = made.how.find("derived from") != std::string::npos;
  if (!made.grid_note.empty()) report.notes.push_back(made.grid_note);
  run_options.has_drive = true;
  run_options.drive = drive_sizes(made, sizes);
  if (options.keep_products) {
    run_options.product_file = product_file(sizes);
    std::filesystem::remove(run_options.product_file);
  }
}

/// In the names of the source, and causes first.
void CheckedProgram::Parts::say_causes(Report& report) const {
  std::vector<Finding>& findings = report.check.findings;
  for (Finding& f : findings) f = in_own_names(std::move(f), names_);
  name_missing_threads(findings, options.path, text);
  for (Finding& f : findings) {
    if (!is_derived_ || (f.rule != rule::kNeverWritten && f.rule != rule::kLaunch)) continue;
    f.remedy += fmt::format(
        "; or the launch is another: {} was derived from the source, --block and --grid give yours",
        report.how.substr(0, report.how.find(", derived")));
  }
  findings = causes_first(std::move(findings));
}

void CheckedProgram::Parts::start_nvcc() {
  if (cubin_.valid() || !options.use_nvcc) return;
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) return;
  cubin_ = std::async(std::launch::async, [this, nvcc] {
             const NvccSource in = nvcc_source(options, text, source_.appended, folder.path());
             return compile_cubin(nvcc, in.path, in.flags, options.architecture, folder.path());
           }).share();
}

const std::string& CheckedProgram::Parts::image(Build build) {
  std::string& path = images_[build == Build::kCheck ? 0 : 1];
  if (path.empty()) path = compiled(compiled_from_, source_, build, folder);
  return path;
}

RunResult CheckedProgram::Parts::count_accesses(RunOptions run_options, Report& report) {
  run_options.image = image(Build::kCount);
  run_options.watch = {false, true};
  run_options.output = RunOptions::Output::kNowhere;
  run_options.product_file.clear();
  if (cubin_.valid()) {
    try {
      run_options.widths = line_widths(cubin_.get());
    } catch (const Error& error) {
      const std::string why = error.what();
      report.notes.push_back("nvcc did not compile it, so accesses have the source's widths: " +
                             why.substr(0, why.find('\n')));
      cubin_ = {};
    }
  }
  return simt::run(run_options);
}

Report CheckedProgram::Parts::run(const Sizes& sizes, bool count, bool quiet) {
  Report report;
  report.path = options.path;
  report.source = text;

  RunOptions run_options;
  run_options.source_path = options.path;
  run_options.words_folder = folder.path();
  run_options.arguments = options.arguments;
  run_options.time_limit_s = options.time_limit_s;
  run_options.max_accesses = options.max_accesses;
  run_options.limits.thread_accesses = options.thread_accesses;
  run_options.limits.block_s = std::max(1.0, options.time_limit_s / 3);
  if (is_lone) set_drive(sizes, report, run_options);

  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  // What blocks tell each other through atomics depends on their order.
  run_options.workers = program_.talks_between_blocks ? 1
                        : options.workers > 0         ? options.workers
                                                      : std::max(1, cores / (count ? 2 : 1));

  // The compilers run side by side.
  std::future<RunResult> count_task;
  if (count) {
    start_nvcc();
    count_task = std::async(std::launch::async,
                            [&, run_options] { return count_accesses(run_options, report); });
  }
  std::exception_ptr failure;
  try {
    run_options.image = image(Build::kCheck);
    run_options.watch = {true, false};
    run_options.output = quiet ? RunOptions::Output::kNowhere : options.output;
    report.check = simt::run(run_options);
    say_causes(report);
  } catch (...) {
    failure = std::current_exception();
  }
  if (count_task.valid()) {
    try {
      report.count = count_task.get();
      find_lost_lines(report.count.sites);
    } catch (const Error& error) {
      if (!failure)
        report.notes.push_back(fmt::format("accesses were not counted: {}", error.what()));
    }
  }
  if (failure) std::rethrow_exception(failure);
  report.notes.insert(report.notes.end(), report.check.launch_notes.begin(),
                      report.check.launch_notes.end());
  if (count && cubin_.valid()) add_compiled(report, cubin_.get());
  if (report.check.launches.empty() && report.check.findings.empty()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("check: {} has launched no kernel, so nothing was checked{}",
                            options.path, said(report.check.notes)));
  }
  if (report.check.exit_code != 0 && report.check.exit_code < 128) {
    report.notes.push_back(
        fmt::format("the program itself ended with exit code {}", report.check.exit_code));
  }
  if (is_derived_ && report.failed()) {
    report.notes.push_back(
        "the launch was derived from the source; if another is meant, give --block and --grid");
  }
  report.elapsed_s = now_s() - begun_s_;
  begun_s_ = now_s();  // a further run is not charged for the compilers
  return report;
}

CheckedProgram::CheckedProgram(CheckOptions options)
    : parts_(std::make_unique<Parts>(std::move(options))) {}
CheckedProgram::~CheckedProgram() = default;

const CheckOptions& CheckedProgram::options() const { return parts_->options; }
const std::string& CheckedProgram::source() const { return parts_->text; }
bool CheckedProgram::is_lone() const { return parts_->is_lone; }
const std::string& CheckedProgram::folder() const { return parts_->folder.path(); }
Driver CheckedProgram::driver() const { return parts_->driver(sizes()); }
DriveSizes CheckedProgram::drive(const Sizes& sizes) const {
  return drive_sizes(parts_->driver(sizes), sizes);
}
std::string CheckedProgram::product_file(const Sizes& sizes) const {
  return parts_->product_file(sizes);
}

Sizes CheckedProgram::sizes() const { return parts_->sizes(); }

Report CheckedProgram::run() {
  Report report = parts_->run(sizes(), options().count);
  if (is_lone() && options().driver.m == 0) {
    report.notes.insert(
        report.notes.begin(),
        fmt::format("sizes M,N,K = {} were chosen; --gemm sets them", fmt::join(sizes(), ",")));
  }
  if (is_lone()) add_hints(report, *this);
  return report;
}

bool CheckedProgram::is_clean(const Sizes& sizes) {
  const Report report = parts_->run(sizes, false, true);
  return !report.failed() && report.check.notes.empty();
}

Report CheckedProgram::run(const Sizes& sizes, bool count) { return parts_->run(sizes, count); }

Report check(const CheckOptions& options) { return CheckedProgram(options).run(); }

}  // namespace tessera::simt
