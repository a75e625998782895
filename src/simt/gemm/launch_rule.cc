#include "simt/gemm/launch_rule.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "simt/gemm/types.h"

namespace tessera::simt {
namespace {

constexpr std::int64_t kMostThreads = 1024;

using Value = std::optional<std::int64_t>;
using Named = std::initializer_list<const char*>;

constexpr Named kTileM = {"bm",     "blockm",    "tilem",    "blocksizem", "mtile", "blocktilem",
                          "mblock", "blockrows", "tilerows", "tileheight", "tiley"};
constexpr Named kTileN = {"bn",     "blockn",    "tilen",    "blocksizen", "ntile", "blocktilen",
                          "nblock", "blockcols", "tilecols", "tilewidth",  "tilex"};
constexpr Named kTileK = {"bk", "blockk", "tilek", "blocksizek", "ktile", "blocktilek"};
constexpr Named kThreadM = {"tm", "threadm", "threadtilem", "threadsizem", "threadsizey", "regm"};
constexpr Named kThreadN = {"tn", "threadn", "threadtilen", "threadsizen", "threadsizex", "regn"};
constexpr Named kThreads = {"numthreads",      "threads",     "nthreads",           "blockthreads",
                            "threadsperblock", "threadcount", "numthreadsperblock", "nt"};
constexpr Named kBlockX = {"blockx", "blockdimx", "blocksizex", "bdimx", "threadsx", "dimx"};
constexpr Named kBlockY = {"blocky", "blockdimy", "blocksizey", "bdimy", "threadsy", "dimy"};
constexpr Named kTile = {"tilewidth", "tilesize", "tiledim", "tile",  "blocksize", "blockwidth",
                         "blockdim",  "block",    "bs",      "ts",    "tw",        "t",
                         "bsize",     "tiles",    "width",   "tsize", "blk"};
constexpr Named kCoarse = {"coarsefactor", "coarsening", "coarse", "coarseningfactor"};

/// "kTileWidth", "TILE_WIDTH" -> "tilewidth".
std::string plain(const std::string& name) {
  const bool k_camel =
      name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1]));
  std::string out;
  for (std::size_t i = k_camel ? 1 : 0; i < name.size(); ++i) {
    if (name[i] != '_') {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    }
  }
  return out;
}

struct Found {
  std::string name;
  std::int64_t value = 0;
};

std::optional<Found> find(const Values& values, Named names) {
  for (const char* wanted : names) {
    for (const auto& [name, value] : values) {
      if (value >= 1 && plain(name) == wanted) return Found{name, value};
    }
  }
  return {};
}

std::string said(const Found& found) { return found.name + " = " + std::to_string(found.value); }

Value evaluated(const std::string& text, const Values& values) {
  const std::optional<Expression> e = Expression::parse(text);
  if (!e) return {};
  return e->evaluate([&](const std::string& name) -> Value {
    const auto found = values.find(name);
    return found == values.end() ? Value() : Value(found->second);
  });
}

/// The first of the words of __launch_bounds__.
Value bound_of(const Signature& kernel, const Values& values) {
  int depth = 0;
  std::string first;
  for (char c : kernel.launch_bounds) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) break;
    first += c;
  }
  const Value bound = evaluated(first, values);
  return bound && *bound >= 1 && *bound <= kMostThreads ? bound : Value();
}

std::string ceil_of(const std::string& size, std::int64_t tile) {
  return tile == 1 ? size : "ceil(" + size + "/" + std::to_string(tile) + ")";
}

class Deriver {
 public:
  Deriver(const Signature& kernel, const BodyFacts& body, const Values& values)
      : kernel_(kernel), body_(body), values_(values), bound_(bound_of(kernel, values)) {}

  LaunchRule derive() {
    if (!by_block_tile() && !by_block_names() && !by_one_tile() && !by_shared_array()) by_default();
    grid();
    return rule_;
  }

 private:
  void note(const std::string& text) { rule_.from += (rule_.from.empty() ? "" : ", ") + text; }

  void set_block(std::int64_t x, std::int64_t y) { rule_.block = {x, y, 1}; }

  /// BM x BN of C a block, perhaps TM x TN of them a thread.
  bool by_block_tile() {
    const auto m = find(values_, kTileM), n = find(values_, kTileN);
    if (!m || !n) return false;
    rows_ = m->value;
    columns_ = n->value;
    note(said(*m));
    note(said(*n));
    const auto tm = find(values_, kThreadM), tn = find(values_, kThreadN);
    const std::int64_t across = tn ? columns_ / tn->value : tm ? columns_ : 0;
    const std::int64_t down = tm ? rows_ / tm->value : tn ? rows_ : 0;
    std::int64_t threads = across * down;
    if (const auto named = find(values_, kThreads)) {
      threads = named->value;
      note(said(*named));
    } else if (bound_) {
      threads = *bound_;
      note("__launch_bounds__");
    } else if (threads > 0) {
      if (tm) note(said(*tm));
      if (tn) note(said(*tn));
    } else {
      threads = rows_ * columns_ <= kMostThreads ? rows_ * columns_ : 256;
    }
    threads = std::max<std::int64_t>(threads, 1);
    if (!kernel_.uses_thread_y) {
      set_block(threads, 1);
    } else if (across * down == threads) {
      set_block(across, down);
    } else if (rows_ * columns_ == threads) {
      set_block(columns_, rows_);
    } else {
      square_block(threads);
    }
    return true;
  }

  bool by_block_names() {
    const auto x = find(values_, kBlockX), y = find(values_, kBlockY);
    if (!x || !y) return false;
    set_block(x->value, y->value);
    rows_ = y->value;
    columns_ = x->value;
    note(said(*x));
    note(said(*y));
    return true;
  }

  bool by_one_tile() {
    const auto tile = find(values_, kTile);
    if (!tile) return false;
    note(said(*tile));
    tile_block(tile->value);
    if (const auto coarse = find(values_, kCoarse)) {
      columns_ *= coarse->value;
      note(said(*coarse));
    }
    return true;
  }

  /// "__shared__ float As[16][17]", the second perhaps padded.
  bool by_shared_array() {
    if (body_.extents.size() != 2) return false;
    const Value rows = evaluated(body_.extents[0], values_);
    const Value columns = evaluated(body_.extents[1], values_);
    if (!rows || !columns || *rows < 2 || *columns < *rows || *columns > *rows + 4) return false;
    note("a shared array [" + body_.extents[0] + "][" + body_.extents[1] + "]");
    tile_block(*rows);
    return true;
  }

  void tile_block(std::int64_t tile) {
    rows_ = columns_ = tile;
    const std::int64_t area = tile > kMostThreads ? kMostThreads + 1 : tile * tile;
    if (bound_ && *bound_ < area && area % *bound_ == 0 && *bound_ % tile == 0) {
      note("__launch_bounds__");
      kernel_.uses_thread_y ? set_block(tile, *bound_ / tile) : set_block(*bound_, 1);
    } else if (kernel_.uses_thread_y) {
      set_block(tile, tile);
    } else if (area <= kMostThreads) {
      set_block(area, 1);
    } else {
      // A line of threads: the constant is the size of the block.
      set_block(tile, 1);
      rows_ = 1;
    }
  }

  void square_block(std::int64_t threads) {
    std::int64_t y = 1;
    while (y * y * 4 <= threads && threads % (y * 2) == 0) y *= 2;
    set_block(threads / y, y);
  }

  void by_default() {
    if (bound_) note("__launch_bounds__");
    const Value line = line_of_threads();
    if (line) note("a shared array [" + body_.line_extent + "]");
    const std::int64_t threads = bound_ ? *bound_ : line.value_or(256);
    if (kernel_.uses_thread_y) {
      square_block(threads);
    } else {
      set_block(threads, 1);
    }
    columns_ = rule_.block[0];
    rows_ = rule_.block[1];
    if (!bound_ && !line) note("nothing in the source, so the usual block");
  }

  /// Of a block that works on one element together: "__shared__ float sums[128]", one a thread.
  Value line_of_threads() const {
    if (bound_ || kernel_.uses_thread_y || !body_.is_bare_x || body_.line_extent.empty()) return {};
    const Value extent = evaluated(body_.line_extent, values_);
    const bool fits = extent && *extent >= 32 && *extent <= kMostThreads && *extent % 32 == 0;
    return fits ? extent : Value();
  }

  /// Along an axis of the grid, in rows or columns of C; `usual` where the body says nothing else.
  std::int64_t tile_along(int axis, std::int64_t usual) {
    const bool is_bare = axis == 0 ? body_.is_bare_x : body_.is_bare_y;
    if (is_bare && usual > 1) {
      note(axis == 0 ? "blockIdx.x without a factor" : "blockIdx.y without a factor");
      return 1;
    }
    if (axis == 0 && body_.is_per_warp && usual == rule_.block[0] && usual % 32 == 0) {
      note("an element a warp");
      return usual / 32;
    }
    return usual;
  }

  void grid() {
    const bool linear = body_.known && body_.uses_block_x && !body_.uses_block_y;
    if (body_.known && !body_.uses_block_x && !body_.uses_block_y) {
      rule_.grid = {"1"};
      note("a body without blockIdx");
    } else if (linear && rows_ > 1 && !kernel_.uses_thread_y) {
      rule_.grid = {ceil_of("M", rows_) + "*" + ceil_of("N", columns_)};
    } else if (linear && !kernel_.uses_thread_y) {
      linear_grid();
    } else if (body_.x_is_row.value_or(false)) {
      // A square tile fits either way; threads of an oblong block lie along the rows.
      if (is_one_to_one()) std::swap(rows_, columns_);
      rule_.grid = {ceil_of("M", tile_along(0, rows_)), ceil_of("N", tile_along(1, columns_))};
      note("its rows come from blockIdx.x");
    } else {
      rule_.grid = {ceil_of("N", tile_along(0, columns_)), ceil_of("M", tile_along(1, rows_))};
    }
  }

  bool is_one_to_one() const {
    return kernel_.uses_thread_y && rule_.block[0] == columns_ && rule_.block[1] == rows_;
  }

  void linear_grid() {
    std::string over = body_.linear_over;
    if (body_.is_bare_x && over.empty() && !body_.divides_x && body_.x_is_row) {
      over = *body_.x_is_row ? "M" : "N";
    }
    note("a body that uses blockIdx.x alone");
    rule_.grid = {ceil_of(over.empty() ? "M*N" : over, tile_along(0, rule_.block[0]))};
  }

  const Signature& kernel_;
  const BodyFacts& body_;
  const Values& values_;
  Value bound_;
  std::int64_t rows_ = 1, columns_ = 1;  // of C, a block
  LaunchRule rule_;
};

bool is_one_of(const std::string& name, Named names) {
  for (const char* wanted : names) {
    if (plain(name) == wanted) return true;
  }
  return false;
}

}  // namespace

void add_constants(Values& values, const std::vector<Constant>& constants) {
  for (const Constant& constant : constants) {
    if (const Value value = evaluated(constant.value, values)) {
      values.emplace(constant.name, *value);
    }
  }
}

LaunchRule derive_launch(const Signature& kernel, const BodyFacts& body, const Values& values) {
  return Deriver(kernel, body, values).derive();
}

std::optional<std::vector<std::string>> usual_template_arguments(const Signature& kernel) {
  bool has_tm = false, has_tn = false, has_bm = false, has_bn = false;
  for (const Parameter& p : kernel.template_parameters) {
    has_tm = has_tm || is_one_of(p.name, kThreadM);
    has_tn = has_tn || is_one_of(p.name, kThreadN);
    has_bm = has_bm || is_one_of(p.name, kTileM);
    has_bn = has_bn || is_one_of(p.name, kTileN);
  }
  // 128 x 128 x 8 with 8 x 8 results a thread, 64 x 64 x 8 with 8: the sizes of the well-known
  // register-tiled kernels. Both have 8 in K, which their loaders rely on.
  const bool both = has_tm && has_tn;
  const std::string tile = both ? "128" : "64";
  std::vector<std::string> out;
  for (const Parameter& p : kernel.template_parameters) {
    const bool integer = type_of(p.type).kind == TypeKind::kInteger;
    // A default may use the parameters before it, so it is left to the compiler; none can follow
    // that has no default.
    if (!p.default_value.empty()) break;
    if (p.type == "typename" || p.type == "class") {
      out.push_back("float");
    } else if (!integer) {
      return {};
    } else if (has_bm && has_bn && (has_tm || has_tn)) {
      const bool block = is_one_of(p.name, kTileM) || is_one_of(p.name, kTileN);
      const bool small =
          is_one_of(p.name, kTileK) || is_one_of(p.name, kThreadM) || is_one_of(p.name, kThreadN);
      if (!block && !small) return {};
      out.push_back(block ? tile : "8");
    } else if (is_one_of(p.name, kTile)) {
      out.push_back("16");
    } else {
      return {};
    }
  }
  return out;
}

}  // namespace tessera::simt
