// Faults that change C as a whole: nothing computed, alpha and beta.
#include <fmt/format.h>

#include "simt/gemm/faults.h"

namespace tessera::simt {
namespace {

/// A factor that may stand where alpha or beta should.
struct Factor {
  double value;
  const char* name;
};

std::string described(const Factor& of_sum, const Factor& of_c) {
  const std::string c = of_c.value == 0 ? "" : std::string(" + ") + of_c.name + "*C";
  return std::string(of_sum.name) + "*A*B" + c;
}

std::string remedy_of(const Factor& of_sum, const Factor& of_c, bool sum_is_right,
                      bool c_is_right) {
  if (!sum_is_right && !c_is_right) return "store alpha * sum + beta * C, each scalar once";
  if (!sum_is_right) {
    return of_sum.name == std::string("1") ? "multiply the sum by alpha once, when it is stored"
                                           : "multiply the sum by alpha, once and by nothing else";
  }
  if (of_c.name == std::string("1")) return "multiply the old C by beta before adding it";
  return of_c.value == 0 ? "add beta * C, read before C is stored"
                         : "multiply the old C by beta, once and by nothing else";
}

std::vector<Fault> scalings(const Evidence& e) {
  const Product& x = e.product();
  const double a = x.alpha, b = x.beta;
  const Factor of_sum[] = {
      {a, "alpha"}, {1, "1"}, {a * a, "alpha^2"}, {b, "beta"}, {a * b, "alpha*beta"}};
  const Factor of_c[] = {{b, "beta"},       {1, "1"},     {0, "0"},
                         {b * b, "beta^2"}, {a, "alpha"}, {a * b, "alpha*beta"}};
  std::vector<Fault> out;
  for (const Factor& s : of_sum) {
    for (const Factor& c : of_c) {
      const bool sum_is_right = s.value == a, c_is_right = c.value == b;
      if (sum_is_right && c_is_right) continue;
      if (x.c_before.empty() && c.value != 0) continue;
      const double sv = s.value, cv = c.value;
      Predict predict = [&e, sv, cv](std::int64_t i, std::int64_t j) -> std::optional<Predicted> {
        Predicted p{sv * e.sum(i, j), std::fabs(sv) * e.size(i, j)};
        if (cv != 0) p.value += cv * e.c0(i, j);
        if (cv != 0) p.magnitude += std::fabs(cv * e.c0(i, j));
        if (e.product().element == "int") p.value = wrapped(p.value);
        return p;
      };
      std::string what = "it is " + described(s, c);
      std::string remedy = remedy_of(s, c, sum_is_right, c_is_right);
      if (b == 0 && sum_is_right && cv == 1) {
        what = "the sum starts from what C held: it is " + described(s, c);
        remedy = "start the accumulator from 0, and store to C with = instead of +=";
      }
      out.push_back({what, remedy, x.name_c, predict});
    }
  }
  return out;
}

}  // namespace

std::vector<Fault> scalar_faults(const Evidence& e) {
  const Product& x = e.product();
  std::vector<Fault> out;
  out.push_back({"it is 0",
                 "check that the loop over K runs, that the tiles are filled and that "
                 "the accumulator is what is stored",
                 x.name_c,
                 [](std::int64_t, std::int64_t) {
                   return std::optional(Predicted{0, 0});
                 },
                 true});
  if (!x.c_before.empty()) {
    out.push_back({"it is what " + x.name_c + " held before",
                   "store alpha * sum + beta * C to " + x.name_c, x.name_c,
                   [&e](std::int64_t i, std::int64_t j) {
                     return std::optional(Predicted{e.c0(i, j), 0});
                   },
                   true});
  }
  std::vector<Fault> more = scalings(e);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace tessera::simt
