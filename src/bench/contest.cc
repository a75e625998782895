#include "bench/contest.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/quiet.h"
#include "core/backend.h"
#include "tessera/error.h"
#include "tessera/kernel.h"

namespace tessera::bench {
namespace {

/// Scratch memory of a plan in its own memory space.
std::shared_ptr<void> workspace_for(const Plan& plan, Space space) {
  const std::size_t bytes = std::max<std::size_t>(1, plan.workspace_bytes());
  if (space == Space::kCuda) return {cuda::allocate(bytes), cuda::release};
  const auto buffer =
      std::make_shared<HostBuffer>("bench", static_cast<std::int64_t>(bytes), Pages::kLarge);
  return {buffer, buffer->data()};
}

RunProduct tessera_product(const Case& c, const std::string& request, const Field& field,
                           void* stream, std::string* kernel) {
  GemmOptions options;
  options.kernel = request;
  options.threads = field.settings.threads;
  const auto plan = std::make_shared<Plan>(c.desc, options);
  *kernel = plan->kernel();
  const std::shared_ptr<void> workspace = workspace_for(*plan, field.space);
  return [=, alpha = c.alpha, beta = c.beta](const Pointers& p) {
    plan->run(alpha, p.a, p.b, beta, p.c, workspace.get(), plan->workspace_bytes(), stream);
  };
}

std::unique_ptr<Arena> arena_for(const Case& c, CacheState cache, const Field& field) {
  return field.space == Space::kCuda ? cuda_arena(c, cache, field.settings)
                                     : host_arena(c, cache, field.settings);
}

class Contest {
 public:
  Contest(const Case& c, CacheState cache, const Field& field)
      : case_(c), cache_(cache), field_(field), arena_(arena_for(c, cache, field)) {}

  std::vector<Row> run() {
    for (const std::string& request : field_.kernels) {
      Row row = new_row(request);
      add(row,
          [&] { return tessera_product(case_, request, field_, arena_->stream(), &row.kernel); });
    }
    for (const std::shared_ptr<Peer>& peer : field_.peers) {
      Row row = new_row(peer->info().name);
      row.is_peer = true;
      add(row, [&] { return peer->prepare(case_, field_.settings.threads, arena_->stream()); });
    }
    MeasureOptions timing = field_.timing;
    if (field_.space == Space::kHost && !field_.peers.empty()) {
      timing.between_samples = [] { wait_until_quiet(0.3); };
    }
    measure(ready_, timing, running_);
    for (std::size_t i = 0; i < running_.size(); ++i) {
      running_[i].launches = arena_->launches(products_[i]);
      rows_[places_[i]] = running_[i];
    }
    return rows_;
  }

 private:
  Row new_row(const std::string& request) const {
    Row row;
    row.what = case_;
    row.cache = cache_;
    row.requested = request;
    row.sets = arena_->sets();
    if (cache_ == CacheState::kCold && arena_->bytes() < arena_->cold_bytes()) {
      row.remarks.push_back(fmt::format(
          "not quite cold: the sets of operands hold {:.3g} MB, {:.3g} would pass the cache",
          static_cast<double>(arena_->bytes()) / 1e6,
          static_cast<double>(arena_->cold_bytes()) / 1e6));
    }
    return row;
  }

  template <class Prepare>
  void add(Row& row, const Prepare& prepare) {
    try {
      const RunProduct run = prepare();
      ready_.push_back(with_timer(arena_->timed(run), running_.size()));
      products_.push_back(run);
      places_.push_back(rows_.size());
      running_.push_back(row);
    } catch (const Error& e) {
      row.disposition =
          e.code() == ErrorCode::kUnsupported ? Disposition::kNotSupported : Disposition::kFailed;
      row.detail = e.what();
    }
    rows_.push_back(row);
  }

  /// Notes in the row how its samples were timed.
  Timed with_timer(Timed timed, std::size_t at) {
    timed.time_s = [this, at, inner = timed.time_s](int products) {
      const double s = inner(products);
      running_[at].timer = arena_->timer();
      return s;
    };
    return timed;
  }

  const Case& case_;
  CacheState cache_;
  const Field& field_;
  std::unique_ptr<Arena> arena_;
  std::vector<Row> rows_, running_;
  std::vector<std::size_t> places_;  // of running_ in rows_
  std::vector<Timed> ready_;
  std::vector<RunProduct> products_;
};

}  // namespace

Case placed(Case c, Space space, int device) {
  c.desc.space = space;
  c.desc.device = space == Space::kCuda ? device : -1;
  c.desc.a.alignment = c.desc.b.alignment = c.desc.c.alignment = 256;
  return c;
}

std::vector<Row> run_case(const Case& c, CacheState cache, const Field& field) {
  std::unique_ptr<cuda::DeviceGuard> guard;
  if (field.space == Space::kCuda) guard = std::make_unique<cuda::DeviceGuard>(field.device);
  const Case here = placed(c, field.space, field.device);
  return Contest(here, cache, field).run();
}

std::vector<std::string> run_once(const Case& c, const Field& field) {
  std::unique_ptr<cuda::DeviceGuard> guard;
  if (field.space == Space::kCuda) guard = std::make_unique<cuda::DeviceGuard>(field.device);
  const Case here = placed(c, field.space, field.device);
  const std::unique_ptr<Arena> arena = arena_for(here, CacheState::kWarm, field);
  std::vector<std::string> faults;
  const auto once = [&](const std::string& name, const auto& prepare) {
    try {
      arena->once(prepare());
    } catch (const Error& e) {
      faults.push_back(fmt::format("{} on {}: {}", name, case_text(c), e.what()));
    }
  };
  std::string kernel;
  for (const std::string& request : field.kernels) {
    once(request, [&] { return tessera_product(here, request, field, arena->stream(), &kernel); });
  }
  for (const std::shared_ptr<Peer>& peer : field.peers) {
    once(peer->info().name,
         [&] { return peer->prepare(here, field.settings.threads, arena->stream()); });
  }
  return faults;
}

std::vector<std::string> every_kernel(Space space, DType dtype) {
  std::vector<std::string> ids;
  for (const Kernel& kernel : registry().kernels()) {
    const bool is_cuda = kernel.id.backend == "cuda";
    if (is_cuda == (space == Space::kCuda) && kernel.id.dtype == dtype) ids.push_back(kernel.name);
  }
  return ids;
}

bool is_known_kernel(const std::string& request) {
  if (request == "auto") return true;
  const auto& kernels = registry().kernels();
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const Kernel& k) { return k.answers_to(request); });
}

}  // namespace tessera::bench
