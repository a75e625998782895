#include "simt/report/lost_lines.h"

namespace tessera::simt {
namespace {

bool are_alike(const Site& a, const Site& b) {
  return a.kernel == b.kernel && a.array == b.array && a.space == b.space &&
         a.is_write == b.is_write;
}

}  // namespace

void find_lost_lines(std::vector<Site>& sites) {
  for (Site& lost : sites) {
    if (lost.place.line != 0) continue;
    lost.place.column = 0;
    const Site* known = nullptr;
    bool agree = true;
    for (const Site& site : sites) {
      if (site.place.line == 0 || !are_alike(site, lost)) continue;
      // One that was found in this way says no more than what it was found from.
      agree = agree && (known == nullptr || (known->place.line == site.place.line &&
                                             known->place.file == site.place.file));
      known = &site;
    }
    if (known == nullptr || !agree) continue;
    const Place place = known->place;
    lost.place = place;
    lost.place.column = 0;
  }
}

}  // namespace tessera::simt
