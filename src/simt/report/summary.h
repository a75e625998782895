// Figures of a report that are derived from its sites and launches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simt/report/report.h"

namespace tessera::simt {

/// Of one kernel, or of all of them.
struct Totals {
  std::string kernel;  ///< empty: all
  std::uint64_t global_requests = 0, sectors = 0, ideal_sectors = 0;
  std::uint64_t useful_bytes = 0;     ///< distinct bytes that requests asked for
  std::uint64_t moved_bytes = 0;      ///< sectors of 32 bytes
  std::uint64_t requested_bytes = 0;  ///< of global memory, by threads
  std::uint64_t shared_requests = 0, wavefronts = 0, ideal_wavefronts = 0;
};

/// What a recognised product needs, against what was counted. Where blocks were sampled, all of it
/// is for their share of the product.
struct Theory {
  double flop = 0;              ///< 2mnk
  double compulsory_bytes = 0;  ///< A, B and C once
  double loads = 0;             ///< elements of the inputs that threads loaded
  double naive_loads = 0;       ///< 2mnk: no reuse
  double tile = 0;              ///< naive_loads / loads: the side of the tile that reuses as much
  // FLOP per byte
  double intensity_requested = 0, intensity_moved = 0, intensity_compulsory = 0;
  double share = 1;  ///< of the launches' blocks that was counted
};

struct KernelSummary {
  Totals totals;
  std::optional<Theory> theory;
};

/// One for each kernel that has sites, in order of appearance.
std::vector<KernelSummary> summaries(const Report& report);
Totals total(const std::vector<Site>& sites, const std::string& kernel);

/// Sites sorted for people: by kernel (in order of appearance), file, line, column, array.
std::vector<Site> sorted_sites(const Report& report);
/// The launches of the checking run, or of the counting run where only that was made.
const std::vector<Launch>& launches_of(const Report& report);
/// Notes of the report and of its runs, each once.
std::vector<std::string> notes_of(const Report& report);
/// A few words on a site: "2-way conflict", "broadcast"; empty when there is nothing to say.
std::string site_note(const Site& site);
/// "2 findings, 1 warning" or "no finding".
std::string verdict_text(const Report& report, std::size_t warning_count);

}  // namespace tessera::simt
