// The matrices of a lone kernel, and what is known of a product that a launch computes.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstring>
#include <random>

#include "simt/gemm/column_major.h"
#include "simt/gemm/driver.h"
#include "simt/gemm/store_overrun.h"
#include "simt/run/elements.h"
#include "simt/run/session.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

/// Random normals, or small integers; the same every time.
void fill(const std::string& element, void* p, std::int64_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> integer(-9, 9);
  const std::size_t bytes = element_bytes(element);
  for (std::int64_t i = 0; i < count; ++i) {
    store_element(element, static_cast<char*>(p) + i * bytes,
                  element == "int" ? integer(random) : normal(random));
  }
}

/// The row-major product that the memory holds: of a column-major one, C^T = B^T * A^T.
struct RowMajor {
  std::int64_t m, n;
  void *a, *b;
};
RowMajor row_major(const DriveSizes& d, const DriveArguments& x) {
  return d.column_major ? RowMajor{d.n, d.m, x.b, x.a} : RowMajor{d.m, d.n, x.a, x.b};
}
/// What is found in it, said of the product that was asked for.
Finding said(const DriveSizes& d, Finding finding) {
  return d.column_major ? in_column_major(std::move(finding)) : finding;
}

}  // namespace

int Session::drive() {
  using Drive = void (*)(const DriveArguments*);
  const auto entry = reinterpret_cast<Drive>(dlsym(image_, "simt_drive"));
  if (entry == nullptr) throw Error(ErrorCode::kUnsupported, "check: the driver is missing");
  const DriveSizes& d = options_.drive;
  const std::size_t bytes = element_bytes(d.element), bytes_c = element_bytes(d.element_c);
  DriveArguments x{};
  x.m = d.m, x.n = d.n, x.k = d.k;
  x.lda = d.column_major ? d.m : d.k;
  x.ldb = d.column_major ? d.k : d.n;
  x.ldc = d.column_major ? d.m : d.n;
  x.alpha = d.alpha, x.beta = d.beta;
  x.a = memory_.allocate(bytes * d.m * d.k, Region::Kind::kDevice);
  x.b = memory_.allocate(bytes * d.k * d.n, Region::Kind::kDevice);
  x.c = memory_.allocate(bytes_c * d.m * d.n, Region::Kind::kDevice);
  if (d.has_d) x.d = memory_.allocate(bytes_c * d.m * d.n, Region::Kind::kDevice);
  void* const output = d.has_d ? x.d : x.c;
  if (x.a == nullptr || x.b == nullptr || x.c == nullptr || output == nullptr) {
    throw Error(ErrorCode::kOutOfMemory,
                fmt::format("check: no memory for a product of {}x{}x{}", d.m, d.n, d.k));
  }
  std::mt19937_64 random(42);
  fill(d.element, x.a, d.m * d.k, random);
  fill(d.element, x.b, d.k * d.n, random);
  memory_.mark_initialised(x.a, bytes * d.m * d.k);
  memory_.mark_initialised(x.b, bytes * d.k * d.n);
  if (d.c_is_read) {
    fill(d.element_c, x.c, d.m * d.n, random);
    memory_.mark_initialised(x.c, bytes_c * d.m * d.n);
  }
  const auto bytes_of = [](void* p, std::size_t size) {
    return std::vector<char>(static_cast<char*>(p), static_cast<char*>(p) + size);
  };
  if (!options_.product_file.empty()) {
    append_matrix(options_.product_file, bytes_of(x.a, bytes * d.m * d.k));
    append_matrix(options_.product_file, bytes_of(x.b, bytes * d.k * d.n));
    append_matrix(options_.product_file, bytes_of(x.c, bytes_c * d.m * d.n));
  }
  const RowMajor v = row_major(d, x);
  const std::vector<char> a_before = bytes_of(v.a, bytes * v.m * d.k),
                          b_before = bytes_of(v.b, bytes * d.k * v.n);
  const std::vector<double> c_before = read_elements(d.element_c, x.c, d.m * d.n);
  entry(&x);

  if (!options_.product_file.empty() && !was_refused_ && !out_of_time_ && !sampled_) {
    append_matrix(options_.product_file, bytes_of(output, bytes_c * d.m * d.n));
  }
  if (!options_.watch.check) return 0;
  if (!was_refused_) note_limits(x, entry);
  std::int64_t overrun = 0;
  if (result_.launches.size() == 1) {
    overrun = name_store_overrun(result_.findings, result_.launches.front(), v.n);
  }
  for (Finding& f : result_.findings) {
    if (overrun > 0 && f.rule == rule::kRowOverrun && f.other_place) f = said(d, std::move(f));
  }
  if (was_refused_ || out_of_time_) return 0;
  for (const auto& [p, before, name] :
       {std::tuple{v.a, &a_before, "A"}, std::tuple{v.b, &b_before, "B"}}) {
    if (std::memcmp(p, before->data(), before->size()) == 0) continue;
    std::size_t at = 0;
    while (static_cast<char*>(p)[at] == (*before)[at]) ++at;
    Finding f;
    f.rule = rule::kInputWritten;
    f.kernel = d.kernel;
    f.place = store_place(p, d.place);
    f.array = name;
    const std::int64_t columns = name[0] == 'A' ? d.k : v.n;
    const auto element = static_cast<std::int64_t>(at / bytes);
    f.element = fmt::format("[{}][{}]", element / columns, element % columns);
    f.message = fmt::format("the kernel changes its input {}, first at {}", name, f.element);
    f.remedy = "write the output only";
    add(said(d, std::move(f)));
    return 0;
  }
  if (sampled_) return 0;
  Product product;
  product.m = v.m, product.n = v.n, product.k = d.k;
  product.a = read_elements(d.element, a_before.data(), v.m * d.k);
  product.b = read_elements(d.element, b_before.data(), d.k * v.n);
  if (d.c_is_read) product.c_before = c_before;
  product.c = read_elements(d.element_c, output, d.m * d.n);
  product.disputed = overrun;
  product.alpha = d.alpha;
  product.beta = d.beta;
  product.element = d.element_c;
  product.kernel = d.kernel;
  product.place = store_place(output, d.place);
  if (d.has_d) product.name_c = "D";
  const Region& c = *memory_.find(reinterpret_cast<std::uintptr_t>(output));
  product.written.resize(static_cast<std::size_t>(d.m * d.n));
  for (std::int64_t i = 0; i < d.m * d.n; ++i) {
    product.written[i] = (c.flags[i * bytes_c] & kWrittenNow) != 0;
  }
  if (!result_.launches.empty()) {
    Launch& launch = result_.launches.back();
    product.grid = launch.grid;
    product.block = launch.block;
    product.is_tiled = launch.static_shared_bytes + launch.dynamic_shared_bytes > 0;
    launch.gemm = fmt::format("C({}x{}) = A({}x{}) * B({}x{}), {}, {}-major", d.m, d.n, d.m, d.k,
                              d.k, d.n, d.element, d.column_major ? "column" : "row");
    launch.m = d.m, launch.n = d.n, launch.k = d.k;
  }
  const std::vector<Finding> judged = judge(product);
  for (const Finding& f : judged) add(said(d, f));
  if (judged.empty() && overrun == 0 && d.element != "int") test_neighbours(x, entry);
  return 0;
}

// C's row i is made of A's row i alone, and its column j of B's column j. So with every other row
// of A full of NaN, the rows between must stay free of them: a NaN there has come over a row's end,
// even where the neighbour's numbers happen to be multiplied by zero.
void Session::test_neighbours(const DriveArguments& x, void (*entry)(const DriveArguments*)) {
  const DriveSizes& d = options_.drive;
  const RowMajor v = row_major(d, x);
  const std::size_t bytes = element_bytes(d.element);
  void* const output = d.has_d ? x.d : x.c;
  auto* const c_first = static_cast<char*>(output);
  const std::size_t bytes_c = element_bytes(d.element_c);
  const std::vector<char> c_bytes(c_first, c_first + bytes_c * d.m * d.n);
  quiet_ = true;
  for (const bool of_a : {true, false}) {
    const std::int64_t rows = of_a ? v.m : d.k, columns = of_a ? d.k : v.n;
    char* matrix = static_cast<char*>(of_a ? v.a : v.b);
    const std::vector<char> saved(matrix, matrix + bytes * rows * columns);
    for (const int parity : {0, 1}) {
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const std::int64_t line = of_a ? i / columns : i % columns;
        if (line % 2 != parity) store_element(d.element, matrix + i * bytes, NAN);
      }
      std::memcpy(output, c_bytes.data(), c_bytes.size());
      entry(&x);
      std::memcpy(matrix, saved.data(), saved.size());
      const std::vector<double> c = read_elements(d.element_c, output, d.m * d.n);
      for (std::int64_t i = 0; i < d.m * d.n; ++i) {
        const std::int64_t line = of_a ? i / v.n : i % v.n;
        if (line % 2 != parity || !std::isnan(c[i])) continue;
        Finding f;
        f.rule = rule::kRowOverrun;
        f.kernel = d.kernel;
        f.place = load_place(matrix, d.place);
        f.array = of_a ? "A" : "B";
        f.element = of_a ? fmt::format("[{}][{}]", i / v.n, d.k) : fmt::format("[..][{}]", v.n);
        f.message = fmt::format(
            "C[{}][{}] depends on a neighbouring {} of {}: the load runs over the end of a row "
            "into the next, which is valid memory, and what it finds there is multiplied by zero "
            "at best",
            i / v.n, i % v.n, of_a ? "row" : "column", f.array);
        f.remedy =
            of_a ? "guard the load of A with its own column: k index < K, and store 0 "
                   "otherwise"
                 : "guard the load of B with its own column: column < N, and store 0 otherwise";
        add(said(d, std::move(f)));
        quiet_ = false;
        return;
      }
    }
  }
  quiet_ = false;
}

Place Session::load_place(const void* matrix, const Place& otherwise) {
  return first_place(matrix, false, otherwise);
}
Place Session::store_place(const void* matrix, const Place& otherwise) {
  return first_place(matrix, true, otherwise);
}

/// Where an element of the matrix was loaded or stored.
Place Session::first_place(const void* matrix, bool write, const Place& otherwise) {
  Region* region = memory_.find(reinterpret_cast<std::uintptr_t>(matrix));
  if (region == nullptr) return otherwise;
  for (Shadow& shadow : region->shadows) {
    if (!shadow) continue;
    for (std::size_t i = 0; i < shadow.granules(); ++i) {
      const Cell& cell = shadow.cells()[i];
      const Access& a = write ? cell.write : cell.read[0];
      if (a.epoch == 0) continue;
      const Place& place = symbols_->place(a.pc);
      if (place.line != 0) return place;
    }
  }
  return otherwise;
}

// --- products in programs with a main ------------------------------------------------------------

namespace {

/// Names that a product's kernel may have; vector sums and copies have A, B, C and N as well.
bool sounds_like_product(const std::string& kernel) {
  std::string name;
  for (const char c : kernel)
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* part : {"elem", "hadamard", "pointwise"}) {
    if (name.find(part) != std::string::npos) return false;
  }
  for (const char* part : {"matmul", "matrixmul", "mat_mul", "matrix_mul", "mmul", "gemm", "mm_"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

std::vector<double> turned(const std::vector<double>& x, std::int64_t rows, std::int64_t columns) {
  std::vector<double> out(x.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) out[j * rows + i] = x[i * columns + j];
  }
  return out;
}

const char* element_of_argument(char element) {
  switch (element) {
    case 'f':
      return "float";
    case 'd':
      return "double";
    case 'h':
      return "half";
    case 'b':
      return "bfloat16";
    case 'i':
      return "int";
    default:
      return nullptr;
  }
}

}  // namespace

// The arguments' names and values say which product a launch is; the values in memory, whether it
// came out. Where the names leave a doubt (layout, a transposed operand) every reading must fail
// before the result counts as wrong.
void Session::judge_launch(const simt_launch& launch, const LaunchState& state, Launch& record) {
  static_cast<void>(state);
  const simt_kernel* kernel = kernel_of(launch);
  if (kernel == nullptr || !sounds_like_product(kernel->name) || launch.grid.z != 1) return;
  const Recognised recognised = recognise(parse_parameters(kernel->parameters));
  if (!recognised.roles ||
      static_cast<int>(recognised.roles->roles.size()) != launch.argument_count) {
    return;
  }
  const simt_argument* of[16] = {};
  for (int i = 0; i < launch.argument_count; ++i) {
    of[static_cast<int>(recognised.roles->roles[i])] = &launch.arguments[i];
  }
  const auto argument = [&](Role role) { return of[static_cast<int>(role)]; };
  const auto size = [&](Role role) {
    const simt_argument* a = argument(role) != nullptr ? argument(role) : argument(Role::kSquare);
    return a == nullptr || a->kind != SIMT_INTEGER ? 0 : a->integer;
  };
  const simt_argument *a = argument(Role::kA), *b = argument(Role::kB), *c = argument(Role::kC);
  if (a == nullptr || b == nullptr || c == nullptr || argument(Role::kD) != nullptr) return;
  const char* element = element_of_argument(a->element);
  if (element == nullptr || a->element != b->element || a->element != c->element) return;
  const auto* beta = argument(Role::kBeta);
  const auto* alpha = argument(Role::kAlpha);
  if (beta != nullptr && beta->real != 0) return;  // C's old values are gone
  const auto bytes = static_cast<std::int64_t>(element_bytes(element));
  const auto elements = [&](const simt_argument* x) -> std::int64_t {
    const auto at = reinterpret_cast<std::uintptr_t>(x->pointer);
    const Region* region = memory_.find(at);
    return region == nullptr ? 0 : static_cast<std::int64_t>(region->high - at) / bytes;
  };
  std::int64_t m = size(Role::kM), n = size(Role::kN), k = size(Role::kK);
  if (m == 0 && n != 0) m = elements(c) / n;
  if (m < 1 || n < 1 || k < 1 || m > elements(c) / n || k > elements(a) / m ||
      n > elements(b) / k) {
    return;
  }
  const auto dense = [&](Role role, std::int64_t ld) {
    return argument(role) == nullptr || argument(role)->integer == ld;
  };
  if (!dense(Role::kLda, k) || !dense(Role::kLdb, n) || !dense(Role::kLdc, n)) return;
  if (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > 3e8) return;

  record.gemm =
      fmt::format("C({}x{}) = A({}x{}) * B({}x{}), {}, row-major", m, n, m, k, k, n, element);
  record.m = m, record.n = n, record.k = k;
  Product p;
  p.m = m, p.n = n, p.k = k;
  p.a = read_elements(element, a->pointer, m * k);
  p.b = read_elements(element, b->pointer, k * n);
  p.c = read_elements(element, c->pointer, m * n);
  p.alpha = alpha == nullptr ? 1 : alpha->real;
  p.element = element;
  p.kernel = record.kernel;
  p.grid = record.grid, p.block = record.block;
  p.is_tiled = record.static_shared_bytes + record.dynamic_shared_bytes > 0;
  p.place = store_place(c->pointer, {kernel->file, kernel->line, 0, kernel->name});
  const Region& region = *memory_.find(reinterpret_cast<std::uintptr_t>(c->pointer));
  const std::uint8_t* flags =
      region.flags + (reinterpret_cast<std::uintptr_t>(c->pointer) - region.low);
  p.written.resize(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m * n; ++i) p.written[i] = (flags[i * bytes] & kWrittenNow) != 0;

  const std::vector<Finding> found = judge(p);
  if (found.empty()) return;
  std::vector<Product> readings;
  Product swapped = p;  // column-major throughout
  swapped.m = n, swapped.n = m;
  swapped.a = p.b, swapped.b = p.a;
  readings.push_back(swapped);
  for (const int turn : {1, 2, 3}) {
    Product t = p;
    if ((turn & 1) != 0) t.a = turned(p.a, k, m);
    if ((turn & 2) != 0) t.b = turned(p.b, n, k);
    readings.push_back(std::move(t));
  }
  for (const Product& reading : readings) {
    if (judge(reading).empty()) {
      record.gemm =
          fmt::format("C({}x{}) of A and B with {}, {}", m, n, "other layouts or ops", element);
      return;
    }
  }
  const std::vector<SaidAs> names =
      own_names(*recognised.roles, parse_parameters(kernel->parameters));
  for (const Finding& f : found) add(in_own_names(f, names));
}

}  // namespace tessera::simt
