// A faulty C for each known fault, and what the judge makes of it; right ones, of which it must say
// nothing.
#include "simt/gemm/judge.h"

#include <cmath>
#include <limits>
#include <random>

#include "simt_gemm_support.h"

namespace tessera::simt {
namespace {

using test::error_of;
using I = std::int64_t;

double rounded(double value, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

double in_format(const std::string& element, double value) {
  if (element == "double") return value;
  if (element == "half") return rounded(value, 11);
  if (element == "bfloat16") return rounded(value, 8);
  if (element == "int") return std::nearbyint(value);
  return static_cast<double>(static_cast<float>(value));
}

Product problem(I m, I n, I k, const std::string& element = "float", unsigned tile = 16) {
  Product x;
  x.m = m;
  x.n = n;
  x.k = k;
  x.element = element;
  x.kernel = "tiled<16>";
  x.place = {"t.cu", 12, 0, "tiled"};
  x.block = {tile, tile, 1};
  x.grid = {static_cast<unsigned>((n + tile - 1) / tile),
            static_cast<unsigned>((m + tile - 1) / tile), 1};
  std::mt19937_64 random(static_cast<std::uint64_t>(m * 1000003 + n * 1009 + k));
  std::normal_distribution<double> normal;
  const double scale = element == "int" ? 30 : 1;
  const auto fill = [&](I count) {
    std::vector<double> out;
    for (I e = 0; e < count; ++e) out.push_back(in_format(element, scale * normal(random)));
    return out;
  };
  x.a = fill(m * k);
  x.b = fill(k * n);
  x.c_before = fill(m * n);
  x.c.assign(static_cast<std::size_t>(m * n), 0);
  return x;
}

double a_of(const Product& x, I i, I p) { return x.a.at(static_cast<std::size_t>(i * x.k + p)); }
double b_of(const Product& x, I p, I j) { return x.b.at(static_cast<std::size_t>(p * x.n + j)); }
double& c_of(Product& x, I i, I j) { return x.c.at(static_cast<std::size_t>(i * x.n + j)); }
double c0_of(const Product& x, I i, I j) {
  return x.c_before.at(static_cast<std::size_t>(i * x.n + j));
}

/// The sum over p < depth of term(p), added as the element type does.
template <class Term>
double summed(const Product& x, I depth, Term term) {
  const std::string wide = x.element == "half" || x.element == "bfloat16" ? "float" : x.element;
  double sum = 0;
  for (I p = 0; p < depth; ++p) sum = in_format(wide, sum + term(p));
  return sum;
}
double dot(const Product& x, I i, I j) {
  return summed(x, x.k, [&](I p) { return a_of(x, i, p) * b_of(x, p, j); });
}
/// Weighted terms.
template <class Weight>
double weighed(const Product& x, I i, I j, Weight w) {
  return summed(x, x.k, [&](I p) { return w(p) * a_of(x, i, p) * b_of(x, p, j); });
}

template <class F>
void fill_c(Product& x, F f) {
  for (I i = 0; i < x.m; ++i) {
    for (I j = 0; j < x.n; ++j) c_of(x, i, j) = in_format(x.element, f(i, j));
  }
}
double right(const Product& x, I i, I j) {
  return x.alpha * dot(x, i, j) + (x.beta == 0 ? 0 : x.beta * c0_of(x, i, j));
}
Product right_product(I m, I n, I k, const std::string& element = "float") {
  Product x = problem(m, n, k, element);
  fill_c(x, [&](I i, I j) { return right(x, i, j); });
  return x;
}

/// The only finding, which is of a wrong result.
Finding wrong(const Product& x) {
  const std::vector<Finding> all = judge(x);
  if (all.size() != 1 || all[0].rule != rule::kWrongResult) {
    ADD_FAILURE() << all.size() << " findings";
    return {};
  }
  EXPECT_FALSE(all[0].remedy.empty());
  EXPECT_EQ(all[0].array, x.name_c);
  EXPECT_FALSE(all[0].at_fault.empty());
  EXPECT_EQ(all[0].place.line, 12);
  EXPECT_EQ(all[0].message.find('\n'), std::string::npos);
  return all[0];
}
std::string wrong_text(const Product& x) {
  const Finding f = wrong(x);
  return f.message + " || " + f.remedy + " || " + f.at_fault;
}

// --- right results

TEST(Judge, RightProductsGiveNothing) {
  const I shapes[][3] = {{1, 1, 1},    {1, 7, 3},    {16, 16, 16}, {33, 17, 65},
                         {64, 64, 64}, {5, 80, 200}, {48, 3, 31},  {4, 4, 0}};
  for (const auto& s : shapes) {
    for (const char* element : {"float", "double", "half", "bfloat16", "int"}) {
      Product x = right_product(s[0], s[1], s[2], element);
      EXPECT_TRUE(judge(x).empty()) << s[0] << "x" << s[1] << "x" << s[2] << " " << element;
      x.alpha = element == std::string("int") ? 2 : 0.75;
      x.beta = element == std::string("int") ? -3 : -1.5;
      fill_c(x, [&](I i, I j) { return right(x, i, j); });
      EXPECT_TRUE(judge(x).empty()) << s[0] << "x" << s[1] << "x" << s[2] << " " << element;
      x.c_before.assign(x.c_before.size(), std::nan(""));
      x.beta = 0;
      fill_c(x, [&](I i, I j) { return right(x, i, j); });
      x.written.assign(x.c.size(), true);
      EXPECT_TRUE(judge(x).empty());
    }
  }
  EXPECT_TRUE(judge(problem(0, 5, 3)).empty());
  EXPECT_TRUE(judge(problem(5, 0, 3)).empty());
}

TEST(Judge, SixteenBitSumsPass) {
  for (const auto& [element, bits] : {std::pair("half", 11), std::pair("bfloat16", 8)}) {
    for (I k : {8, 100, 600}) {
      Product x = problem(24, 20, k, element);
      for (I i = 0; i < x.m; ++i) {
        for (I j = 0; j < x.n; ++j) {
          double sum = 0;
          for (I p = 0; p < k; ++p) sum = rounded(sum + a_of(x, i, p) * b_of(x, p, j), bits);
          c_of(x, i, j) = sum;
        }
      }
      EXPECT_TRUE(judge(x).empty()) << element << " " << k;
    }
  }
}

TEST(Judge, ZerosFailInEveryElementKindAndDepth) {
  for (const char* element : {"float", "double", "half", "bfloat16", "int"}) {
    for (I k : {1, 8, 300, 1000}) {
      Product x = problem(20, 12, k, element);
      EXPECT_SAYS(wrong_text(x), "it is 0") << element << k;
    }
  }
}

TEST(Judge, SmallOperandsDoNotHideZeros) {
  Product x = problem(20, 20, 64);
  for (double& a : x.a) a *= 1e-4;
  for (double& b : x.b) b *= 1e-4;
  EXPECT_SAYS(wrong_text(x), "everywhere (400 of 400 elements): it is 0");
}

TEST(Judge, IntegersWrapAndAreExact) {
  Product x = problem(8, 8, 4, "int");
  for (double& a : x.a) a = std::nearbyint(a * 4000);
  for (double& b : x.b) b = std::nearbyint(b * 4000);
  fill_c(x, [&](I i, I j) {
    double sum = 0;
    for (I p = 0; p < x.k; ++p) sum += a_of(x, i, p) * b_of(x, p, j);
    return static_cast<double>(static_cast<std::int32_t>(static_cast<I>(sum)));
  });
  EXPECT_TRUE(judge(x).empty());
  c_of(x, 3, 4) += 1;
  EXPECT_SAYS(wrong_text(x), "in one element, [3][4]");
}

TEST(Judge, OneWrongElementOrNanIsFound) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e3}) {
    Product x = right_product(20, 18, 30);
    c_of(x, 7, 9) = bad;
    const Finding f = wrong(x);
    EXPECT_SAYS(f.message, "in one element, [7][9] (1 of 360 elements)");
    EXPECT_EQ(f.element, "[7][9]");
  }
}

TEST(Judge, NanOfTheOperandsIsRight) {
  Product x = problem(6, 5, 4);
  x.a[0] = std::nan("");
  fill_c(x, [&](I i, I j) { return right(x, i, j); });
  EXPECT_TRUE(judge(x).empty());
  c_of(x, 0, 2) = 0;
  wrong(x);
}

TEST(Judge, OtherSizesAreRefused) {
  Product x = right_product(4, 4, 4);
  x.c.pop_back();
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument, [&] { judge(x); }), "4 x 4 x 4");
}

// --- never written

TEST(Unwritten, RowsAndColumnsOfARoundedDownGrid) {
  Product x = right_product(100, 100, 8);
  x.grid = {3, 3, 1};
  x.block = {32, 32, 1};
  x.written.assign(x.c.size(), true);
  for (I i = 0; i < 100; ++i) {
    for (I j = 0; j < 100; ++j) {
      if (i < 96 && j < 96) continue;
      x.written[static_cast<std::size_t>(i * 100 + j)] = false;
      c_of(x, i, j) = std::nan("");
    }
  }
  const std::vector<Finding> all = judge(x);
  ASSERT_EQ(all.size(), 1u) << "what was not written is not called wrong as well";
  EXPECT_EQ(all[0].rule, rule::kNeverWritten);
  EXPECT_EQ(all[0].message,
            "4 rows and 4 columns of C never written: rows 96 to 99, columns 96 to 99");
  EXPECT_SAYS(all[0].remedy, "grid.y = 3 blocks of 32 cover 96 of M = 100");
  EXPECT_SAYS(all[0].remedy, "(N + 31) / 32");
  EXPECT_EQ(all[0].count, 784u);
}

TEST(Unwritten, GridWithItsAxesExchanged) {
  // The remedy when all is written but rows from `rows` and columns from `columns` on.
  const auto remedy = [](I m, I n, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                         I rows, I columns) {
    Product x = right_product(m, n, 8);
    x.grid = grid;
    x.block = block;
    x.written.assign(x.c.size(), true);
    for (I i = 0; i < m; ++i) {
      for (I j = 0; j < n; ++j) {
        if (i >= rows || j >= columns) x.written[static_cast<std::size_t>(i * n + j)] = false;
      }
    }
    const std::vector<Finding> all = judge(x);
    return all.size() == 1 ? all[0].remedy : std::to_string(all.size());
  };
  // Columns from x, as usual, and rows from y.
  EXPECT_SAYS(remedy(100, 40, {13, 5, 1}, {8, 8, 1}, 40, 40),
              "its 13 blocks for the rows in x and its 5 for the columns in y, but the kernel "
              "takes rows from blockIdx.y and columns from blockIdx.x; y needs (M + 7) / 8 blocks, "
              "and x (N + 7) / 8");
  EXPECT_SAYS(remedy(40, 100, {5, 13, 1}, {8, 8, 1}, 40, 40), "takes rows from blockIdx.y");
  EXPECT_SAYS(remedy(96, 64, {12, 4, 1}, {16, 8, 1}, 32, 64), "x (N + 15) / 16");
  // Rows from x.
  EXPECT_SAYS(remedy(100, 40, {5, 13, 1}, {8, 8, 1}, 40, 40), "takes rows from blockIdx.x");
  // Rounded down is another fault.
  const std::string down = remedy(100, 90, {2, 3, 1}, {32, 32, 1}, 96, 64);
  EXPECT_SAYS(down, "round the number of blocks up, (M + 31) / 32");
  EXPECT_SAYS(down, "(N + 31) / 32");
}

TEST(Unwritten, OtherShapesOfHoles) {
  Product x = right_product(20, 30, 8);
  const auto text = [&](auto missing) {
    x.written.assign(x.c.size(), true);
    for (I i = 0; i < x.m; ++i) {
      for (I j = 0; j < x.n; ++j) {
        if (missing(i, j)) x.written[static_cast<std::size_t>(i * x.n + j)] = false;
      }
    }
    const std::vector<Finding> all = judge(x);
    return all.size() == 1 ? all[0].message : std::to_string(all.size());
  };
  EXPECT_EQ(text([](I, I) { return true; }), "no element of C was written");
  EXPECT_EQ(text([](I i, I) { return i == 19; }), "1 row of C never written: row 19");
  EXPECT_EQ(text([](I, I j) { return j % 16 == 3; }),
            "2 columns of C never written: columns 3, 19");
  EXPECT_EQ(text([](I i, I j) { return i == 2 && j == 5; }),
            "1 element of C never written: the first C[2][5]");
  EXPECT_EQ(text([](I i, I j) { return i == 4 || (i == 2 && j > 27); }),
            "1 row and besides 2 elements of C never written: row 4, the first C[2][28]");
  EXPECT_EQ(text([](I, I) { return false; }), "0");
}

TEST(Untiled, AreNotToldOfTiles) {
  Product x = right_product(40, 40, 24);
  x.is_tiled = false;
  const auto spoil = [&](auto wrong) {
    fill_c(x, [&](I i, I j) { return right(x, i, j); });
    for (I i = 0; i < x.m; ++i) {
      for (I j = 0; j < x.n; ++j) {
        if (wrong(i, j)) c_of(x, i, j) = static_cast<double>(i * j % 7) + 0.25;
      }
    }
    return wrong_text(x);
  };
  for (const std::string& text :
       {spoil([](I, I j) { return j >= 32; }), spoil([](I i, I) { return i >= 32; }),
        spoil([](I i, I j) { return i >= 32 || j >= 32; }), spoil([](I, I) { return true; })}) {
    EXPECT_EQ(text.find("tile"), std::string::npos) << text;
    EXPECT_EQ(text.find("barrier"), std::string::npos) << text;
  }
  EXPECT_SAYS(spoil([](I, I j) { return j >= 32; }), "a bound of N or the index of B");
  // 16 of 24 terms: no tile is dropped.
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p < 16; }); });
  const std::string dropped = wrong_text(x);
  EXPECT_SAYS(dropped, "terms p = 16 to 23 of K = 24 are missing");
  EXPECT_EQ(dropped.find("tile"), std::string::npos) << dropped;
}

// --- faults of C as a whole

TEST(Faults, AlphaAndBeta) {
  struct Case {
    double of_sum, of_c;
    const char* says;
  };
  const double a = 0.5, b = 3;
  const Case cases[] = {{1, b, "it is 1*A*B + beta*C"},
                        {a, 0, "it is alpha*A*B;"},
                        {a, 1, "it is alpha*A*B + 1*C"},
                        {a * a, b, "it is alpha^2*A*B + beta*C"},
                        {a, b * b, "it is alpha*A*B + beta^2*C"},
                        {1, 0, "it is 1*A*B;"},
                        {1, 1, "it is 1*A*B + 1*C"},
                        {b, a, "it is beta*A*B + alpha*C"},
                        {a, a * b, "it is alpha*A*B + alpha*beta*C"}};
  for (const Case& c : cases) {
    Product x = problem(19, 23, 40);
    x.alpha = a;
    x.beta = b;
    fill_c(x, [&](I i, I j) { return c.of_sum * dot(x, i, j) + c.of_c * c0_of(x, i, j); });
    EXPECT_SAYS(wrong_text(x), c.says);
  }
}

TEST(Faults, StartsFromC) {
  Product x = problem(19, 23, 40);
  fill_c(x, [&](I i, I j) { return dot(x, i, j) + c0_of(x, i, j); });
  EXPECT_SAYS(wrong_text(x), "the sum starts from what C held");
  EXPECT_SAYS(wrong_text(x), "= instead of +=");
}

TEST(Faults, CKeepsItsValues) {
  Product x = problem(19, 23, 40);
  fill_c(x, [&](I i, I j) { return c0_of(x, i, j); });
  EXPECT_SAYS(wrong_text(x), "it is what C held before");
}

// --- faults of layout

TEST(Faults, TransposedResult) {
  Product x = problem(40, 40, 24);
  fill_c(x, [&](I i, I j) { return dot(x, j, i); });
  EXPECT_SAYS(wrong_text(x),
              "everywhere but on the diagonal (1560 of 1600 elements): it is the "
              "transpose of A*B");
  x = problem(24, 40, 16);
  fill_c(x, [&](I i, I j) {
    const I address = i * 40 + j;
    return dot(x, address % 24, address / 24);
  });
  EXPECT_SAYS(wrong_text(x), "it is the transpose of A*B, stored by columns");
}

TEST(Faults, ReadTransposed) {
  for (const auto& [m, n, k] : {std::tuple<I, I, I>{32, 32, 32}, {24, 40, 16}, {17, 9, 33}}) {
    Product x = problem(m, n, k);
    const auto at = [&x = x, m = m](I i, I p) { return x.a[static_cast<std::size_t>(p * m + i)]; };
    const auto bt = [&x = x, k = k](I p, I j) { return x.b[static_cast<std::size_t>(j * k + p)]; };
    fill_c(x,
           [&](I i, I j) { return summed(x, x.k, [&](I p) { return at(i, p) * b_of(x, p, j); }); });
    EXPECT_SAYS(wrong_text(x), "everywhere");
    EXPECT_SAYS(wrong_text(x), ": A is read transposed;");
    EXPECT_EQ(wrong(x).at_fault, "A");
    fill_c(x,
           [&](I i, I j) { return summed(x, x.k, [&](I p) { return a_of(x, i, p) * bt(p, j); }); });
    EXPECT_SAYS(wrong_text(x), ": B is read transposed;");
    EXPECT_EQ(wrong(x).at_fault, "B");
    const auto both = [&](I i, I j) {
      return summed(x, x.k, [&](I p) { return at(i, p) * bt(p, j); });
    };
    fill_c(x, both);
    EXPECT_SAYS(wrong_text(x), "A and B are both read transposed");
    if (m == n) continue;
    fill_c(x, [&, m = m, n = n](I i, I j) { return both((i * n + j) % m, (i * n + j) / m); });
    EXPECT_SAYS(wrong_text(x), "every matrix is taken as column-major");
  }
}

TEST(Faults, SwappedOperands) {
  Product x = problem(20, 20, 20);
  fill_c(x, [&](I i, I j) {
    return summed(x, x.k, [&](I p) { return b_of(x, i, p) * a_of(x, p, j); });
  });
  EXPECT_SAYS(wrong_text(x), "it is B*A: the operands are exchanged");
}

TEST(Faults, LeadingDimensions) {
  Product x = problem(20, 24, 40);
  const auto a_by = [&](I ld) {
    return [&x, ld](I i, I p) { return x.a.at(static_cast<std::size_t>(i * ld + p)); };
  };
  const auto fill = [&](auto a, auto b) {
    fill_c(x, [&](I i, I j) { return summed(x, x.k, [&](I p) { return a(i, p) * b(p, j); }); });
  };
  const auto b = [&](I p, I j) { return b_of(x, p, j); };
  fill(a_by(24), b);
  EXPECT_SAYS(wrong_text(x), "the rows of A are taken N apart");
  EXPECT_SAYS(wrong_text(x), "the leading dimension of A is K, not N");
  fill(a_by(20), b);
  EXPECT_SAYS(wrong_text(x), "the rows of A are taken M apart");
  fill([&](I i, I p) { return a_of(x, i, p); },
       [&](I p, I j) { return x.b.at(static_cast<std::size_t>(p * 20 + j)); });
  EXPECT_SAYS(wrong_text(x), "the rows of B are taken M apart");
  // With K past N the last rows of B lie outside; what is read there is not known.
  fill(
      [&](I i, I p) { return a_of(x, i, p); },
      [&](I p, I j) { return p * 40 + j < 960 ? x.b[static_cast<std::size_t>(p * 40 + j)] : 7.0; });
  EXPECT_SAYS(wrong_text(x), "no known fault");
  Product y = problem(20, 40, 24);
  fill_c(y, [&](I i, I j) {
    return summed(
        y, y.k, [&](I p) { return a_of(y, i, p) * y.b.at(static_cast<std::size_t>(p * 24 + j)); });
  });
  EXPECT_SAYS(wrong_text(y), "the rows of B are taken K apart");
}

TEST(Faults, ShiftedRowsAndColumns) {
  constexpr struct {
    I rows, columns;
    const char* says;
  } kCases[] = {{1, 0, "the row below's"},
                {-1, 0, "the row above's"},
                {0, 1, "its right neighbour's"},
                {0, -1, "its left neighbour's"}};
  for (const auto& c : kCases) {
    Product x = problem(21, 27, 18);
    fill_c(x, [&](I i, I j) {
      const I r = i + c.rows, s = j + c.columns;
      return r < 0 || s < 0 || r >= x.m || s >= x.n ? 0 : dot(x, r, s);
    });
    EXPECT_SAYS(wrong_text(x), c.says);
  }
}

// --- faults of the loop over K

TEST(Faults, DroppedTail) {
  for (const auto& [k, t] : {std::pair<I, I>{65, 16}, {24, 16}, {100, 32}, {70, 8}, {130, 128}}) {
    Product x = problem(20, 24, k, "float", static_cast<unsigned>(t > 32 ? 16 : t));
    const I whole = k / t * t;
    fill_c(x, [&](I i, I j) { return weighed(x, i, j, [&](I p) { return p < whole ? 1 : 0; }); });
    const std::string text = wrong_text(x);
    EXPECT_SAYS(text, "everywhere");
    EXPECT_SAYS(text, "the tail of K is dropped: terms p = " + std::to_string(whole));
    EXPECT_SAYS(text, "guard the loads with t*T + tx < K for A");
  }
}

TEST(Faults, SumEndsAtNOrM) {
  Product x = problem(23, 37, 100);
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [&](I p) { return p < 37 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "the sum ends at N");
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [&](I p) { return p < 23 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "the sum ends at M");
}

TEST(Faults, OnlyTheFirstOrLastTile) {
  Product x = problem(20, 24, 64);
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p < 16 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "only the first K tile, 16 terms");
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p >= 48 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "only the last K tile is in it");
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p == 63 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "add to it (+=)");
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p > 0 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "start the loop over p at 0");
}

TEST(Faults, SkippedAndDoubledSteps) {
  Product x = problem(20, 24, 64);
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p != 31 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "the K step p = 31 is skipped");
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p / 16 != 2 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "the K tile p = 32 to 47 is skipped");
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p / 16 == 1 ? 2 : 1; }); });
  EXPECT_SAYS(wrong_text(x), "the K tile p = 16 to 31 is added twice");
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p == 0 ? 2 : 1; }); });
  EXPECT_SAYS(wrong_text(x), "the K step p = 0 is added twice");
}

TEST(Faults, LastOrFirstOfEachTile) {
  Product x = problem(20, 24, 70);
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p % 16 != 15 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "the last of every 16 terms is missing");
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p % 8 != 0 ? 1 : 0; }); });
  EXPECT_SAYS(wrong_text(x), "the first of every 8 terms is missing");
}

TEST(Faults, AccumulatorNotCleared) {
  Product x = problem(20, 24, 70);
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return 5 - p / 16; }); });
  EXPECT_SAYS(wrong_text(x), "not cleared between tiles of 16");
  // One thread, several elements.
  x = problem(20, 64, 30);
  fill_c(x, [&](I i, I j) {
    double sum = dot(x, i, j);
    if (j % 32 >= 16) sum += dot(x, i, j - 16);
    return sum;
  });
  EXPECT_SAYS(wrong_text(x), "sums go on from the element 16 columns to the left");
  x = problem(64, 20, 30);
  fill_c(x, [&](I i, I j) {
    double sum = 0;
    for (I r = i / 4 * 4; r <= i; ++r) sum += dot(x, r, j);
    return sum;
  });
  EXPECT_SAYS(wrong_text(x), "1 row above");
}

TEST(Faults, RunsOnIntoTheNextRow) {
  for (const auto& [k, t] : {std::pair<I, I>{8, 16}, {65, 16}, {61, 8}, {31, 16}}) {
    Product x = problem(60, 24, k, "float", static_cast<unsigned>(t));
    const I end = (k + t - 1) / t * t;
    // Behind B lies what lies there; here, numbers of no meaning.
    const auto b = [&, n = x.n](I p, I j) {
      return p < x.k ? b_of(x, p, j) : static_cast<double>(std::sin(p * 1.7 + j) + 0.1 * n);
    };
    fill_c(x, [&](I i, I j) {
      return summed(x, end, [&](I p) {
        const auto address = static_cast<std::size_t>(i * x.k + p);
        return (address < x.a.size() ? x.a[address] : 2.5) * b(p, j);
      });
    });
    const std::string text = wrong_text(x);
    EXPECT_SAYS(text, "the sum runs on to K = " + std::to_string(end));
    EXPECT_SAYS(text, "into its next row");
    EXPECT_SAYS(text, "guard the load of A with t*T + tx < K");
  }
}

// --- faults of tiles

TEST(Faults, TransposedTiles) {
  Product x = problem(64, 48, 32);
  const auto fill = [&](bool swap_a, bool swap_b, I t) {
    fill_c(x, [&](I i, I j) {
      return summed(x, x.k, [&](I p) {
        const I ai = i / t * t + p % t, ap = p / t * t + i % t;
        const I bp = p / t * t + j % t, bj = j / t * t + p % t;
        return (swap_a ? a_of(x, ai, ap) : a_of(x, i, p)) *
               (swap_b ? b_of(x, bp, bj) : b_of(x, p, j));
      });
    });
  };
  fill(true, false, 16);
  EXPECT_SAYS(wrong_text(x), "the 16 x 16 tiles of A are transposed");
  fill(false, true, 16);
  EXPECT_SAYS(wrong_text(x), "the 16 x 16 tiles of B are transposed");
  fill(true, true, 8);
  EXPECT_SAYS(wrong_text(x), "the 8 x 8 tiles of A and B are transposed");
}

TEST(Faults, SameTileInEveryStep) {
  Product x = problem(20, 24, 60);
  fill_c(x, [&](I i, I j) {
    return summed(x, x.k, [&](I p) { return a_of(x, i, p % 16) * b_of(x, p, j); });
  });
  EXPECT_SAYS(wrong_text(x), "every K step uses the first tile of A");
  fill_c(x, [&](I i, I j) {
    return summed(x, x.k, [&](I p) { return a_of(x, i, p) * b_of(x, p % 16, j); });
  });
  EXPECT_SAYS(wrong_text(x), "every K step uses the first tile of B");
}

TEST(Faults, RowsOfCThatOverlap) {
  Product x = problem(37, 41, 20);
  // Later rows over earlier ones, K apart; which of them stays is chance.
  x.c.assign(x.c.size(), 0);
  x.written.assign(x.c.size(), false);
  for (I i = 0; i < x.m; ++i) {
    for (I j = 0; j < x.n; ++j) {
      const auto at = static_cast<std::size_t>((i * 7 % x.m) * x.k + j);
      x.c[at] = static_cast<float>(
          summed(x, x.k, [&](I p) { return a_of(x, i * 7 % x.m, p) * b_of(x, p, j); }));
      x.written[at] = true;
    }
  }
  const std::vector<Finding> all = judge(x);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].rule, rule::kNeverWritten);
  EXPECT_EQ(all[1].remedy, "the leading dimension of C is N, not K");
  EXPECT_EQ(all[1].proof, Proof::kIndex);
}

TEST(Faults, AGuessIsMarked) {
  Product x = problem(37, 41, 50);
  fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I) { return 1; }); });
  for (I j = 0; j < x.n; ++j) x.c[static_cast<std::size_t>(36 * x.n + j)] = -std::nan("");
  const Finding f = wrong(x);
  EXPECT_EQ(f.proof, Proof::kRegion);
  EXPECT_NE(f.message.find(f.cause), std::string::npos);
  EXPECT_SAYS(f.message, "C[36][0] is nan and");
  EXPECT_EQ(f.array + f.element, "C[36][0]");
}

TEST(Faults, LoadsUnderTheGuardOfC) {
  Product x = problem(37, 41, 50);
  fill_c(x, [&](I i, I j) {
    return weighed(x, i, j, [&](I p) { return j < 32 || p % 16 < 41 % 16 ? 1 : 0; });
  });
  std::string text = wrong_text(x);
  EXPECT_SAYS(text, "C is wrong in the tail of N, columns 32 to 40");
  EXPECT_SAYS(text, "the load of A is under the guard of a column of C");
  EXPECT_EQ(wrong(x).at_fault, "A");
  fill_c(x, [&](I i, I j) {
    return weighed(x, i, j, [&](I p) { return i < 32 || p % 16 < 37 % 16 ? 1 : 0; });
  });
  text = wrong_text(x);
  EXPECT_SAYS(text, "C is wrong in the tail of M, rows 32 to 36");
  EXPECT_SAYS(text, "the load of B is under the guard of a row of C");
  EXPECT_SAYS(text, "t*T + ty < K && col < N");
  fill_c(x, [&](I i, I j) {
    return weighed(x, i, j,
                   [&](I p) { return (j < 32 || p % 16 < 9) && (i < 32 || p % 16 < 5) ? 1 : 0; });
  });
  EXPECT_SAYS(wrong_text(x), "in the last 5 rows and the last 9 columns, the tails of M and N");
  EXPECT_SAYS(wrong_text(x), "under the guard of C");
}

TEST(Faults, NanNamesTheGuardByItsRegion) {
  const auto text = [](I m, I n, I k, auto bad) {
    Product x = right_product(m, n, k);
    for (I i = 0; i < m; ++i) {
      for (I j = 0; j < n; ++j) {
        if (bad(i, j)) c_of(x, i, j) = std::nan("");
      }
    }
    return wrong_text(x);
  };
  std::string said = text(33, 32, 32, [](I i, I) { return i >= 32; });
  EXPECT_SAYS(said, "in the tail of M, row 32 (32 of 1056 elements): it is NaN");
  EXPECT_SAYS(said, "guard the load of B with its own bounds");
  said = text(32, 33, 32, [](I, I j) { return j >= 32; });
  EXPECT_SAYS(said, "in the tail of N, column 32 (32 of 1056 elements)");
  EXPECT_SAYS(said, "guard the load of A with its own bounds");
  said = text(33, 33, 32, [](I i, I j) { return i >= 32 || j >= 32; });
  EXPECT_SAYS(said, "in the last 1 row and the last 1 column");
  said = text(32, 32, 33, [](I, I) { return true; });
  EXPECT_SAYS(said, "K = 33 is no multiple of 16, and the tail of K lacks a guard");
  said = text(32, 32, 32, [](I, I) { return true; });
  EXPECT_SAYS(said, "is read before it is stored to");
}

TEST(Faults, FewBits) {
  Product x = problem(20, 24, 64);
  fill_c(x, [&](I i, I j) {
    return summed(x, x.k,
                  [&](I p) { return rounded(a_of(x, i, p), 11) * rounded(b_of(x, p, j), 11); });
  });
  EXPECT_SAYS(wrong_text(x), "right to 11 bits only");
}

TEST(Faults, AlsoInOtherElements) {
  for (const char* element : {"double", "half", "bfloat16", "int"}) {
    Product x = problem(33, 33, 40, element);
    fill_c(x, [&](I i, I j) { return dot(x, j, i); });
    EXPECT_SAYS(wrong_text(x), "it is the transpose of A*B") << element;
    fill_c(x, [&](I i, I j) { return weighed(x, i, j, [](I p) { return p < 32 ? 1 : 0; }); });
    EXPECT_SAYS(wrong_text(x), "the tail of K is dropped") << element;
  }
}

TEST(Faults, AlsoWithAlphaAndBeta) {
  Product x = problem(33, 29, 40);
  x.alpha = -1.25;
  x.beta = 0.5;
  fill_c(x, [&](I i, I j) {
    return x.alpha * weighed(x, i, j, [](I p) { return p < 32 ? 1 : 0; }) + 0.5 * c0_of(x, i, j);
  });
  EXPECT_SAYS(wrong_text(x), "the tail of K is dropped");
}

TEST(Faults, InOnePieceOnly) {
  // Only the block at rows 16 to 31 and columns 32 to 47 skips a tile.
  Product x = right_product(64, 64, 64);
  for (I i = 16; i < 32; ++i) {
    for (I j = 32; j < 48; ++j) {
      c_of(x, i, j) = in_format("float", weighed(x, i, j, [](I p) { return p / 16 != 1 ? 1 : 0; }));
    }
  }
  const std::string text = wrong_text(x);
  EXPECT_SAYS(text, "in one 16 x 16 piece, rows 16 to 31 and columns 32 to 47 (256 of 4096");
  EXPECT_SAYS(text, "the K tile p = 16 to 31 is skipped");
}

TEST(Regions, PatternsAndScatter) {
  const auto text = [](auto bad) {
    Product x = right_product(64, 48, 8);
    for (I i = 0; i < x.m; ++i) {
      for (I j = 0; j < x.n; ++j) {
        if (bad(i, j)) c_of(x, i, j) += 100 + 13 * std::sin(static_cast<double>(i * 48 + j));
      }
    }
    return wrong_text(x);
  };
  EXPECT_SAYS(text([](I i, I) { return i % 16 == 3; }), "in the rows whose index modulo 16 is 3");
  EXPECT_SAYS(text([](I, I j) { return j % 8 == 1 || j % 8 == 5; }),
              "in the columns whose index modulo 4 is 1");
  EXPECT_SAYS(text([](I i, I j) { return (i * 7 + j * 5) % 11 == 0; }),
              "in scattered elements, the first [0][0]");
  EXPECT_SAYS(text([](I i, I j) { return i == 5 && j == 6; }), "no known fault");
}

TEST(Regions, NamesOfTheMatrices) {
  Product x = problem(20, 20, 20);
  x.name_a = "M";
  x.name_b = "N";
  x.name_c = "P";
  fill_c(x, [&](I i, I j) { return dot(x, j, i); });
  EXPECT_SAYS(wrong_text(x), "P is wrong everywhere but on the diagonal");
  EXPECT_SAYS(wrong_text(x), "transpose of M*N");
}

}  // namespace
}  // namespace tessera::simt
