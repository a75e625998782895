#include "simt/run/session.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <thread>

#include "simt/gemm/driver.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

Session* session = nullptr;

// cudaError_t
constexpr int kSuccess = 0, kInvalidValue = 1, kMemoryAllocation = 2, kInvalidConfiguration = 9,
              kInvalidDevicePointer = 17, kOutOfResources = 701;

constexpr std::uint64_t kLeastShare = 16;  // of the accesses to check, for each launch
constexpr std::uint64_t kSharedWithoutAsking = 48 * 1024, kSharedMost = 227 * 1024;

std::uint64_t volume(const simt_dim3& d) { return std::uint64_t{d.x} * d.y * d.z; }
std::array<unsigned, 3> triple(const simt_dim3& d) { return {d.x, d.y, d.z}; }

Place place_of(const simt_launch_site& site) {
  return {site.file == nullptr ? "" : site.file, site.line, 0, ""};
}

/// Blocks to run when not all are: the corners and edges first, which guards are about, then spread
/// over the rest.
std::vector<std::uint64_t> sample(const simt_dim3& grid, std::uint64_t count) {
  const std::uint64_t total = volume(grid);
  std::vector<std::uint64_t> chosen;
  const auto add = [&](unsigned x, unsigned y, unsigned z) {
    chosen.push_back((std::uint64_t{z} * grid.y + y) * grid.x + x);
  };
  for (unsigned z : {0U, grid.z - 1}) {
    for (unsigned y : {0U, grid.y / 2, grid.y - 1}) {
      for (unsigned x : {0U, grid.x / 2, grid.x - 1}) add(x, y, z);
    }
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    chosen.push_back(static_cast<std::uint64_t>(
        static_cast<double>(i) / static_cast<double>(count) * static_cast<double>(total)));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

uint3 block_index(const simt_dim3& grid, std::uint64_t i) {
  return {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
          static_cast<unsigned>(i / (std::uint64_t{grid.x} * grid.y))};
}

}  // namespace

std::vector<Parameter> parse_parameters(const char* text) {
  std::vector<Parameter> all;
  std::string part;
  int depth = 0;
  const auto finish = [&] {
    std::size_t end = part.find_last_not_of(" \t\n");
    if (end == std::string::npos) return;
    std::size_t begin = end + 1;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(part[begin - 1])) != 0 ||
                         part[begin - 1] == '_')) {
      --begin;
    }
    Parameter p{part.substr(0, begin), part.substr(begin, end + 1 - begin)};
    p.type.erase(0, p.type.find_first_not_of(" \t\n"));
    p.type.erase(p.type.find_last_not_of(" \t\n") + 1);
    all.push_back(std::move(p));
    part.clear();
  };
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '<' || *c == '(' || *c == '[') ++depth;
    if (*c == '>' || *c == ')' || *c == ']') --depth;
    if (*c == ',' && depth == 0) {
      finish();
    } else {
      part += *c;
    }
  }
  finish();
  return all;
}

Session& Session::get() { return *session; }

Session::Session(const RunOptions& options) : options_(options), started_s_(now_s()) {
  session = this;
}
Session::~Session() { session = nullptr; }

void Session::load() {
  // Beside a lone kernel the file may hold host code that calls another file's.
  image_ = dlopen(options_.image.c_str(), (options_.has_drive ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL);
  if (image_ == nullptr) {
    const std::string why = dlerror();
    // "…: undefined symbol: name"
    const std::size_t at = why.find("undefined symbol: ");
    throw Error(ErrorCode::kUnsupported,
                at == std::string::npos
                    ? "check: cannot load the compiled program: " + why
                    : fmt::format("check: the program calls {}, which neither it nor the executor "
                                  "has; give the library or the source file that has it behind --",
                                  demangle(why.c_str() + at + 18)));
  }
  link_map* map = nullptr;
  dlinfo(image_, RTLD_DI_LINKMAP, &map);
  image_low_ = map->l_addr;
  memory_.image_low = image_low_;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* memory) {
        auto& m = *static_cast<Memory*>(memory);
        if (info->dlpi_addr != m.image_low) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          m.image_high = std::max<std::uintptr_t>(
              m.image_high, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
        }
        return 1;
      },
      &memory_);
  symbols_ = std::make_unique<Symbols>(options_.image, options_.words_folder, options_.source_path);
  for (const Symbol& symbol : symbols_->all()) {
    if (!symbol.is_function) {
      memory_.add_variable(image_low_ + symbol.offset, symbol.bytes, symbol.name);
    }
  }
  WidthOf width_of;
  if (!options_.widths.empty()) {
    width_of = [this](const LoggedAccess& a) {
      const Place& place = symbols_->place(a.pc);
      const std::string file = place.file.substr(place.file.rfind('/') + 1);
      const std::string kernel = comparable_name(state_->name);
      // The optimiser may move an access to where it has no line: then any of the kernel's widths
      // will do, as only what fills a wider piece is joined.
      int widest = 0;
      for (const LineWidth& w : options_.widths) {
        if (w.kernel != kernel || w.is_shared != (a.is_shared != 0) ||
            w.is_write != (a.is_write != 0)) {
          continue;
        }
        if (w.line == place.line && w.file == file) return w.bytes;
        widest = std::max(widest, w.bytes);
      }
      return place.line == 0 ? widest : 0;
    };
  }
  for (int i = 0; i < std::max(1, options_.workers); ++i) {
    workers_.push_back(std::make_unique<Worker>(i, memory_, image_low_, width_of));
  }
}

int Session::run_program() {
  if (options_.has_drive) return drive();
  using Main = int (*)(int, char**);
  const auto entry = reinterpret_cast<Main>(dlsym(image_, "main"));
  if (entry == nullptr) throw Error(ErrorCode::kUnsupported, "check: the program has no main");
  std::vector<std::string> words = {options_.source_path};
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return entry(static_cast<int>(words.size()), argv.data());
}

void Session::add(Finding finding) {
  for (Finding& f : result_.findings) {
    if (f.rule == finding.rule && f.place == finding.place && f.kernel == finding.kernel &&
        f.array == finding.array && f.other_place == finding.other_place &&
        (f.rule != rule::kLaunch || f.message == finding.message)) {
      f.count += finding.count;
      return;
    }
  }
  result_.findings.push_back(std::move(finding));
}

RunResult Session::finish() {
  for (auto& worker : workers_) result_.accesses += worker->accesses();
  if (options_.watch.count) {
    std::map<std::tuple<std::string, std::string, std::string, int, int, bool, bool, int>,
             std::pair<Site, SiteCounts>>
        merged;
    for (auto& worker : workers_) {
      for (const auto& [key, counts] : worker->log().sites()) {
        const auto& [kernel, array] = worker->log_names()[key.array];
        const Place& place = symbols_->place(key.pc);
        auto& [site, sum] = merged[{kernel, array, place.file, place.line, place.column,
                                    key.is_shared, key.is_write, key.bytes}];
        site.kernel = kernel;
        site.array = array;
        site.place = place;
        site.space = key.is_shared ? Space::kShared : Space::kGlobal;
        site.is_write = key.is_write;
        site.bytes = key.bytes;
        sum.add(counts);
      }
    }
    for (auto& [key, pair] : merged) {
      auto& [site, c] = pair;
      site.requests = c.requests, site.lanes = c.lanes;
      site.wavefronts = c.wavefronts, site.ideal_wavefronts = c.ideal_wavefronts;
      site.worst_degree = c.worst_degree;
      site.sectors = c.sectors, site.ideal_sectors = c.ideal_sectors;
      site.useful_bytes = c.useful_bytes;
      site.lane_stride = c.stride_varies ? 0 : c.lane_stride;
      site.width_is_compiled = !options_.widths.empty();
      site.lane_offsets = c.worst_offsets;
      if (site.space == Space::kShared) site.row_pitch = shared_pitch_[{site.kernel, site.array}];
      result_.sites.push_back(site);
    }
  }
  result_.notes.assign(notes_.begin(), notes_.end());
  result_.elapsed_s = now_s() - started_s_;
  return std::move(result_);
}

// --- launches -----------------------------------------------------------------------------------

int Session::refuse(const simt_launch& launch, int error, std::string message, std::string remedy) {
  Finding f;
  f.rule = rule::kLaunch;
  f.kernel = name_of(launch);
  f.place = place_of(*launch.site);
  f.message = std::move(message);
  f.remedy = std::move(remedy);
  add(std::move(f));
  error_ = error;
  return error;
}

bool Session::check_configuration(const simt_launch& launch, int& error) {
  const simt_dim3 g = launch.grid, b = launch.block;
  const auto bad = [&](int code, std::string message, std::string remedy) {
    error = refuse(launch, code, std::move(message), std::move(remedy));
    return false;
  };
  if (volume(g) == 0) {
    return bad(kInvalidConfiguration,
               fmt::format("the grid ({},{},{}) is empty: nothing is computed", g.x, g.y, g.z),
               "round the number of blocks up: (n + T - 1) / T");
  }
  if (volume(b) == 0 || volume(b) > 1024) {
    return bad(kInvalidConfiguration,
               fmt::format("too many threads per block: ({},{},{}) are {}, and a block has 1 to "
                           "1024",
                           b.x, b.y, b.z, volume(b)),
               "make the block smaller; let each thread compute several elements instead");
  }
  if (b.z > 64) {
    return bad(kInvalidConfiguration, fmt::format("block.z is {}, and at most 64", b.z),
               "put the threads into x and y");
  }
  if (g.x > 0x7FFFFFFFU || g.y > 65535 || g.z > 65535) {
    return bad(kInvalidConfiguration,
               fmt::format("the grid is ({},{},{}); x goes to 2147483647, y and z to 65535", g.x,
                           g.y, g.z),
               "put the longer side of the matrix into x, or let blocks walk over several tiles");
  }
  const auto it = allowed_shared_.find(launch.function);
  const std::uint64_t allowed =
      launch.function == nullptr ? std::max<std::uint64_t>(allowed_anywhere_, kSharedWithoutAsking)
      : it == allowed_shared_.end() ? kSharedWithoutAsking
                                    : std::max<std::uint64_t>(it->second, kSharedWithoutAsking);
  if (launch.dynamic_shared_bytes > std::min(allowed, kSharedMost)) {
    return bad(kInvalidValue,
               fmt::format("too much shared memory: the launch asks for {} bytes, {} is the limit",
                           launch.dynamic_shared_bytes, std::min(allowed, kSharedMost)),
               launch.dynamic_shared_bytes > kSharedMost
                   ? "use smaller tiles: a block has at most 232448 bytes"
                   : "call cudaFuncSetAttribute(kernel, "
                     "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first");
  }
  return true;
}

std::string Session::key_of(const simt_launch& launch) const {
  std::string key = fmt::format(
      "{}|{}|{}|{},{},{}|{},{},{}|{}", launch.function, launch.site->expression,
      launch.function == nullptr ? launch.site->line : 0, launch.grid.x, launch.grid.y,
      launch.grid.z, launch.block.x, launch.block.y, launch.block.z, launch.dynamic_shared_bytes);
  for (int i = 0; i < launch.argument_count; ++i) {
    const simt_argument& a = launch.arguments[i];
    if (a.kind == SIMT_OTHER) {  // a structure: its bytes, whatever they mean
      key += '|';
      key.append(static_cast<const char*>(a.pointer), a.pointer == nullptr ? 0 : a.element_bytes);
    } else {
      key += fmt::format("|{},{},{},{}", a.kind, a.pointer, a.integer, a.real);
    }
  }
  return key;
}

// The words of a launch may name a pointer or a template's parameters; what runs follows from the
// address.
std::string Session::name_of(const simt_launch& launch) const {
  if (launch.function == nullptr) return launch.site->expression;
  const Symbol* symbol =
      symbols_->find(reinterpret_cast<std::uintptr_t>(launch.function) - image_low_);
  return symbol == nullptr ? launch.site->expression : short_name(symbol->name);
}

const simt_kernel* Session::kernel_of(const simt_launch& launch) const {
  if (launch.site->kernel != nullptr) return launch.site->kernel;
  std::string name = name_of(launch);
  name.resize(std::min(name.size(), name.find('<')));
  const auto* table = static_cast<const simt_kernel* const*>(dlsym(image_, "simt_kernels"));
  for (; table != nullptr && *table != nullptr; ++table) {
    const std::string known = (*table)->name;
    const std::size_t colon = known.rfind("::");
    if (known.substr(colon == std::string::npos ? 0 : colon + 2) == name) return *table;
  }
  return nullptr;
}

void Session::name_pointers(const simt_launch& launch, LaunchState& state) const {
  std::vector<Parameter> parameters;
  if (const simt_kernel* kernel = kernel_of(launch)) {
    parameters = parse_parameters(kernel->parameters);
  }
  for (int i = 0; i < launch.argument_count; ++i) {
    const simt_argument& a = launch.arguments[i];
    if (a.kind != SIMT_POINTER) continue;
    NamedPointer p;
    p.base = reinterpret_cast<std::uintptr_t>(a.pointer);
    p.element_bytes = std::max<std::size_t>(a.element_bytes, 1);
    p.is_const = a.is_const;
    p.name = i < static_cast<int>(parameters.size()) ? parameters[i].name
                                                     : fmt::format("argument {}", i + 1);
    state.pointers.push_back(std::move(p));
  }
  // Of two names for one place the writable one is last, and so the one that is found.
  std::stable_sort(state.pointers.begin(), state.pointers.end(),
                   [](const NamedPointer& x, const NamedPointer& y) {
                     return x.base != y.base ? x.base < y.base : x.is_const > y.is_const;
                   });
}

void Session::launch_bounds(unsigned max_threads) {
  if (state_ == nullptr || max_threads == 0) return;
  state_->max_threads = max_threads;
  if (working != nullptr && state_->threads > max_threads) working->stop_thread();
}

void Session::allow_dynamic_shared(const void* function, std::size_t bytes) {
  allowed_anywhere_ = std::max(allowed_anywhere_, bytes);
  if (function != nullptr) allowed_shared_[function] = bytes;
}

void Session::run_blocks(LaunchState& state, const simt_launch& launch, Launch& record,
                         bool watched) {
  const std::uint64_t total = volume(launch.grid);
  const Watch watch = watched ? options_.watch : Watch{false, false};
  const std::uint64_t before = workers_[0]->accesses(), barriers_before = workers_[0]->barriers();
  for (auto& worker : workers_) worker->begin(state, watch, options_.limits);

  // The first block tells what a block costs.
  Worker& first = *workers_[0];
  if (!first.run_block({0, 0, 0})) {
    record.blocks_run = record.blocks_checked = 1;
    record.accesses = first.accesses() - before;
    out_of_time_ = true;
    return;
  }
  record.blocks_run = 1;
  record.blocks_checked = watched ? 1 : 0;
  if (state.max_threads != 0 && state.threads > state.max_threads) return;
  if (!watched) {
    std::vector<bool> ran(total);
    ran[0] = true;
    run_rest(launch, ran, record);
    return;
  }
  const std::uint64_t of_one = std::max<std::uint64_t>(first.accesses() - before, 1);
  // The first launches must not use up what later kernels are to be checked with.
  const std::uint64_t left = std::max(
      options_.max_accesses / kLeastShare,
      options_.max_accesses > watched_accesses_ ? options_.max_accesses - watched_accesses_ : 0);
  std::vector<std::uint64_t> blocks;
  const bool all = total <= left / of_one + 1;
  if (all) {
    blocks.resize(total - 1);
    for (std::uint64_t i = 1; i < total; ++i) blocks[i - 1] = i;
  } else {
    blocks = sample(launch.grid, left / of_one);
    blocks.erase(std::remove(blocks.begin(), blocks.end(), 0), blocks.end());
  }

  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
  const auto part = [&](std::size_t w) {
    const std::size_t begin = blocks.size() * w / workers_.size();
    const std::size_t end = blocks.size() * (w + 1) / workers_.size();
    for (std::size_t i = begin; i < end && !stop && !is_late(); ++i) {
      ++done;
      if (!workers_[w]->run_block(block_index(launch.grid, blocks[i]))) stop = true;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t w = 1; w < workers_.size(); ++w) threads.emplace_back(part, w);
  part(0);
  for (std::thread& t : threads) t.join();
  record.blocks_run += done;
  record.blocks_checked = record.blocks_run;
  out_of_time_ |= stop;
  record.accesses = workers_[0]->accesses() - before;
  record.barriers = workers_[0]->barriers() - barriers_before;
  watched_accesses_ += of_one * record.blocks_checked;
  if (stop || record.blocks_checked == total) return;
  sampled_ = true;
  notes_.insert(fmt::format(
      "{}: {} of {} blocks were checked ({}); {} raises that", state.name, record.blocks_checked,
      total, all ? "then the time was up" : "the corners, and others spread over the grid",
      is_late() ? "--time-limit" : "--max-accesses"));
  if (options_.has_drive) return;
  // A program goes on with the results of all blocks.
  std::vector<bool> ran(total);
  ran[0] = true;
  if (!is_late()) {
    for (std::uint64_t i : blocks) ran[i] = true;
  }
  first.go_on_unwatched();
  run_rest(launch, ran, record);
}

// A problem that is too large for the time is no fault: what is left of it stays undone, and no
// result is judged any more.
void Session::run_rest(const simt_launch& launch, const std::vector<bool>& ran, Launch& record) {
  for (std::uint64_t i = 0; i < ran.size(); ++i) {
    if (ran[i]) continue;
    if (is_late()) {
      give_up(launch);
      return;
    }
    workers_[0]->run_block(block_index(launch.grid, i));
  }
  record.blocks_run = ran.size();
}

bool Session::is_late() const { return now_s() - started_s_ > options_.time_limit_s; }

void Session::give_up(const simt_launch& launch) {
  out_of_time_ = true;
  notes_.insert(
      fmt::format("{} did not run to its end: the time limit of {:g} s was reached, so the "
                  "program's results are incomplete; make its problem smaller, or raise "
                  "--time-limit",
                  name_of(launch), options_.time_limit_s));
}

// Blocks that different workers ran: did one write what another touched?
void Session::merge_blocks() {
  if (workers_.size() == 1) return;
  for (auto& [low, region] : memory_.regions()) {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      Shadow& mine = region->shadows[w];
      if (!mine) continue;
      for (std::size_t v = 0; v < workers_.size(); ++v) {
        Shadow& other = region->shadows[v];
        if (v == w || !other) continue;
        const std::size_t step = std::size_t{1} << std::min(mine.shift(), other.shift());
        for (std::size_t at = 0; at < region->bytes(); at += step) {
          const Cell& c = mine.at(at);
          if (c.write.epoch < workers_[w]->launch_first_epoch()) continue;
          const Cell& d = other.at(at);
          const std::uint32_t begin = workers_[v]->launch_first_epoch();
          const bool written = d.write.epoch >= begin &&
                               !(c.write_is_atomic != 0 && d.write_is_atomic != 0) && v > w;
          const bool read = d.read[0].epoch >= begin;
          if (!written && !read) continue;
          const Access& a = written ? d.write : d.read[0];
          RawFinding* f = workers_[0]->recorder().first(RawRule::kBlockRace, c.write.pc, a.pc, low);
          if (f == nullptr) continue;
          f->element = workers_[0]->element_of(*region, low + at, &f->array);
          f->thread = workers_[w]->thread_at(c.write);
          f->other_thread = workers_[v]->thread_at(a);
          f->has_other_thread = true;
          f->is_write = true;
          f->detail = written ? "written" : "read";
        }
      }
    }
  }
}

void Session::collect(const LaunchState& state, const std::string& kernel) {
  std::vector<RawFinding> found;
  for (auto& worker : workers_) {
    for (RawFinding& raw : worker->recorder().take()) found.push_back(std::move(raw));
  }
  // Races within warps alone are the work of code that counts on lanes running in step; beside
  // races between warps they are part of the same missing barrier.
  const bool crosses_warps = std::any_of(found.begin(), found.end(), [](const RawFinding& f) {
    return f.rule == RawRule::kSharedReadWrite && !f.same_warp;
  });
  for (const RawFinding& raw : found) add(finding_of(raw, kernel, crosses_warps));
  for (const SharedArray& array : state.arrays) {
    std::size_t pitch = array.element_bytes;
    for (int dim = 1; dim < 4 && array.extents[dim] != 0; ++dim) pitch *= array.extents[dim];
    if (array.extents[1] != 0) {
      shared_pitch_[{kernel, array.name}] = static_cast<std::int64_t>(pitch);
    }
  }
}

void Session::prepare(const simt_launch& launch, LaunchState& state) {
  state.launch = &launch;
  state.name = name_of(launch);
  state.serial = ++serial_;
  state.threads = static_cast<unsigned>(volume(launch.block));
  constexpr std::size_t kFirst = 4096;
  state.arrays.push_back({"", kFirst, launch.dynamic_shared_bytes, 4, {}, true});
  state.arena_end = kFirst + launch.dynamic_shared_bytes;
  for (auto& [low, region] : memory_.regions()) region->shadows.resize(workers_.size());
}

void Session::run_quietly(const simt_launch& launch) {
  LaunchState state;
  prepare(launch, state);
  Worker& worker = *workers_[0];
  worker.begin(state, {false, false}, options_.limits);
  for (std::uint64_t i = 0; i < volume(launch.grid); ++i) {
    worker.run_block(block_index(launch.grid, i));
  }
}

int Session::launch(const simt_launch& launch) {
  int error = kSuccess;
  if (working != nullptr) unsupported("a launch inside a kernel");
  if (std::this_thread::get_id() != thread_) unsupported("launches by several threads of the host");
  if (!check_configuration(launch, error)) {
    was_refused_ = true;
    return error;
  }
  if (!out_of_time_ && is_late()) give_up(launch);
  if (out_of_time_) return kSuccess;
  if (quiet_) {
    run_quietly(launch);
    return kSuccess;
  }
  const std::string key = key_of(launch);
  const auto done = done_.find(key);
  if (done != done_.end()) {
    Launch& earlier = result_.launches[done->second.index];
    ++earlier.repeats;
    if (done->second.can_skip && done->second.version == memory_.version) return kSuccess;
  }

  LaunchState state;
  prepare(launch, state);
  name_pointers(launch, state);
  state_ = &state;
  if (options_.watch.check && !matrices_.empty()) state.matrices = &matrices_;
  for (const NamedPointer& p : state.pointers) {
    Region* region = memory_.find(p.base);
    if (region == nullptr || p.is_const || !options_.watch.check) continue;
    for (std::size_t i = 0; i < region->bytes(); ++i) region->flags[i] &= ~kWrittenNow;
  }

  Launch record;
  record.kernel = state.name;
  record.place = place_of(*launch.site);
  record.grid = triple(launch.grid);
  record.block = triple(launch.block);
  record.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  record.blocks_total = volume(launch.grid);
  const bool watched = done == done_.end();
  const double start = now_s();
  run_blocks(state, launch, record, watched);
  record.elapsed_s = now_s() - start;
  record.static_shared_bytes = state.static_bytes;
  ++memory_.version;

  if (state.max_threads != 0 && state.threads > state.max_threads) {
    state_ = nullptr;
    was_refused_ = true;
    return refuse(launch, kOutOfResources,
                  fmt::format("the launch has {} threads per block, and the kernel's "
                              "__launch_bounds__ allow {}",
                              state.threads, state.max_threads),
                  "launch as many threads as __launch_bounds__ say, or change them");
  }
  const auto opted = allowed_shared_.find(launch.function);
  const std::uint64_t limit =
      opted == allowed_shared_.end() && launch.function != nullptr
          ? kSharedWithoutAsking
          : std::max<std::uint64_t>(allowed_anywhere_, kSharedWithoutAsking);
  const std::uint64_t used = state.static_bytes + launch.dynamic_shared_bytes;
  if (state.static_bytes > kSharedWithoutAsking) {
    state_ = nullptr;
    was_refused_ = true;
    return refuse(launch, kInvalidValue,
                  fmt::format("too much shared memory: the kernel's arrays take {} bytes, 49152 is "
                              "the limit for static ones",
                              state.static_bytes),
                  "use smaller tiles, or dynamic shared memory with cudaFuncSetAttribute");
  }
  if (used > std::max(limit, kSharedWithoutAsking) && state.static_bytes != 0) {
    state_ = nullptr;
    was_refused_ = true;
    return refuse(launch, kInvalidValue,
                  fmt::format("too much shared memory: {} bytes of the kernel's arrays and {} of "
                              "the launch are {}, {} is the limit",
                              state.static_bytes, launch.dynamic_shared_bytes, used, limit),
                  "call cudaFuncSetAttribute(kernel, "
                  "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first");
  }
  if (watched) {
    merge_blocks();
    collect(state, state.name);
    const bool complete = record.blocks_run == record.blocks_total;
    if (options_.watch.check && complete && !options_.has_drive) {
      judge_launch(launch, state, record);
    }
    for (auto& worker : workers_) was_refused_ |= worker->has_faulted();
    // A count does not know this, and need not: the accesses of a repeat are those of the first.
    // Only a host that sees the kernel's memory without a copy could wait for what it does.
    // The host may change such memory between launches, unseen.
    bool reads_its_writes = uses_managed_;
    for (auto& worker : workers_) reads_its_writes |= worker->launch_reads_its_writes();
    result_.launches.push_back(record);
    done_[key] = {memory_.version, result_.launches.size() - 1, !reads_its_writes};
  } else {
    done->second.version = memory_.version;
  }
  state_ = nullptr;
  return kSuccess;
}

// --- memory -------------------------------------------------------------------------------------

int Session::allocate(void** p, std::size_t bytes, int memory) {
  uses_managed_ |= memory == SIMT_MANAGED;
  if (bytes == 0) {
    *p = nullptr;
    return kSuccess;
  }
  *p = memory_.allocate(bytes, memory == SIMT_DEVICE    ? Region::Kind::kDevice
                               : memory == SIMT_MANAGED ? Region::Kind::kManaged
                                                        : Region::Kind::kPinned);
  if (*p != nullptr) return kSuccess;
  return error_ = kMemoryAllocation;
}

int Session::release(void* p) {
  if (p == nullptr || memory_.release(p)) return kSuccess;
  return error_ = kInvalidDevicePointer;
}

int Session::copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t width, std::size_t rows, int kind, void* pc) {
  for (std::size_t row = 0; row < rows; ++row) {
    void* target = static_cast<char*>(to) + row * to_pitch;
    const void* source = static_cast<const char*>(from) + row * from_pitch;
    for (const void* end : {static_cast<const void*>(target), source}) {
      const auto at = reinterpret_cast<std::uintptr_t>(end);
      Region* region = memory_.find(at);
      const bool must_be_device = (end == target && (kind == 1 || kind == 3)) ||
                                  (end == source && (kind == 2 || kind == 3));
      const bool fits = region != nullptr && at + width <= region->high;
      if (fits || (region == nullptr && !must_be_device)) continue;
      Finding f;
      f.rule = rule::kGlobalBounds;
      f.place = symbols_->place(
          static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - 1 - image_low_));
      f.message =
          region == nullptr
              ? fmt::format(
                    "cudaMemcpy {} {} bytes {} an address that no allocation of "
                    "the device holds",
                    end == target ? "writes" : "reads", width, end == target ? "to" : "from")
              : fmt::format("cudaMemcpy {} {} bytes past the end of an allocation of {}",
                            end == target ? "writes" : "reads", at + width - region->high,
                            region->bytes());
      f.remedy = "give cudaMemcpy the bytes of the smaller of the two, and the right direction";
      add(std::move(f));
      return error_ = kInvalidValue;
    }
    const Region* source_region = memory_.find(reinterpret_cast<std::uintptr_t>(source));
    if (options_.watch.check && !was_refused_ && !out_of_time_ && source_region != nullptr) {
      const std::size_t first = memory_.first_uninitialised(source, width);
      if (first != width && kind == 2) {
        std::size_t missing = 0;
        const std::uint8_t* flags =
            source_region->flags + (reinterpret_cast<std::uintptr_t>(source) - source_region->low);
        for (std::size_t i = 0; i < width; ++i) missing += (flags[i] & kInitialised) == 0;
        Finding f;
        f.rule = rule::kNeverWritten;
        f.place = symbols_->place(
            static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - 1 - image_low_));
        f.array = source_region->name;
        f.message = fmt::format(
            "{} of the {} bytes copied to the host were never written, the first at byte {} of {}",
            missing, width, first, source_region->name);
        f.remedy = "let the grid cover the whole output: round the number of blocks up";
        add(std::move(f));
      }
    }
    std::memmove(target, source, width);
    memory_.mark_initialised(target, width);
  }
  ++memory_.version;
  return kSuccess;
}

int Session::set(void* to, int value, std::size_t bytes, void* pc) {
  if (bytes == 0) return kSuccess;
  const auto at = reinterpret_cast<std::uintptr_t>(to);
  Region* region = memory_.find(at);
  if (region == nullptr || at + bytes > region->high) {
    Finding f;
    f.rule = rule::kGlobalBounds;
    f.place = symbols_->place(
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - 1 - image_low_));
    f.message = fmt::format("cudaMemset of {} bytes leaves the allocation", bytes);
    f.remedy = "give cudaMemset the bytes that were allocated";
    add(std::move(f));
    return error_ = kInvalidValue;
  }
  std::memset(to, value, bytes);
  memory_.mark_initialised(to, bytes);
  ++memory_.version;
  return kSuccess;
}

int Session::last_error(bool clear) {
  const int error = error_;
  if (clear) error_ = kSuccess;
  return error;
}

void Session::note_signal(int signal, const void* address) {
  Worker* worker = working;
  if (worker == nullptr && signal == SIGALRM) {
    notes_.insert(
        fmt::format("the program's host code has not come to its end within {:g} s; make its "
                    "problem smaller, or raise --time-limit",
                    options_.time_limit_s));
    return;
  }
  if (worker == nullptr) {
    Finding f;
    f.rule = rule::kCrash;
    f.place.file = options_.source_path;
    f.message = fmt::format("the program's host code stopped with signal {} ({})", signal,
                            strsignal(signal));
    f.remedy =
        "device memory must not be touched by the host; the program's arguments go into --run; see "
        "the debugger";
    add(std::move(f));
    return;
  }
  const bool is_stack = signal == SIGSEGV && address != nullptr;
  if (RawFinding* f = worker->report(signal == SIGALRM ? RawRule::kTimeLimit : RawRule::kCrash,
                                     worker->last_pc(), 0, 0)) {
    f->detail = signal == SIGALRM
                    ? fmt::format("has not come to its end within {:g} s", options_.time_limit_s)
                : is_stack ? "touches memory that is not there, or runs out of local memory,"
                           : fmt::format("stopped with signal {} ({})", signal, strsignal(signal));
  }
  if (state_ != nullptr) collect(*state_, state_->name);
}

}  // namespace tessera::simt
