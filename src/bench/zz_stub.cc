#include "bench/clocks.h"
#include "bench/gpu.h"
#include "bench/product.h"
#include "bench/quiet.h"
#include "bench/suite.h"
#include "tessera/error.h"
namespace tessera::bench {
Suite read_suite(const std::string&, DType) { return {}; }
std::string find_suite(const std::string& s) { return s; }
bool wait_until_quiet(double) { return true; }
Peers open_peers(Space, const std::vector<std::string>&, int) { return {}; }
}
