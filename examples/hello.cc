// Multiplies two small matrices with an installed Tessera and proves the product.
#include <cstdio>
#include <vector>

#include "tessera/gemm.h"
#include "tessera/verify.h"

int main() {
  using namespace tessera;
  constexpr int m = 64, n = 48, k = 100;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>((i * 37) % 101) / 101 - 0.5f;
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>((i * 53) % 89) / 89 - 0.5f;

  // C = 2 * A * B
  gemm(Op::kN, Op::kN, 2.0f, row_major<const float>(a.data(), m, k),
       row_major<const float>(b.data(), k, n), 0.0f, row_major(c.data(), m, n));

  VerifyProblem problem;
  problem.alpha = 2;
  problem.a = source_of(row_major<const float>(a.data(), m, k));
  problem.b = source_of(row_major<const float>(b.data(), k, n));
  problem.c = source_of(row_major<const float>(c.data(), m, n));
  const VerifyReport report = verify(problem);
  std::printf("C is %d x %d, C(0,0) = %g; %s\n", m, n, c[0], report.to_string().c_str());
  return report.passed ? 0 : 1;
}
