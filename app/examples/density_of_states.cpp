// How many eigenvalues are where: the kernel polynomial method. Moments mu_k = trace T_k(A) / n by products with random
// blocks, X_k+1 = 2 A X_k - X_k-1; their series with Jackson's kernel is integrated.
// Source: Weisse, Wellein, Alvermann, Fehske 2006.
#include <cmath>
#include <numbers>
#include <vector>

#include "tallskinny/app/examples/check.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace {

constexpr ts::index_t n = 20000, block = 8;
constexpr int moments = 80;
constexpr double pi = std::numbers::pi;

/// A chain with hopping 1/2: eigenvalues cos(pi k / (n + 1)), all in [-1, 1].
ts::CsrMatrix<double> chain() {
  ts::CsrMatrix<double> a{n, n, {0}, {}, {}};
  for (ts::index_t i = 0; i < n; ++i) {
    if (i > 0) a.indices.push_back(static_cast<std::int32_t>(i - 1)), a.values.push_back(0.5);
    if (i + 1 < n) a.indices.push_back(static_cast<std::int32_t>(i + 1)), a.values.push_back(0.5);
    a.pointers.push_back(std::ssize(a.indices));
  }
  return a;
}

/// trace(X^H Y) / (n block)
double trace(const ts::Context& ctx, const ts::Matrix<double>& x, const ts::Matrix<double>& y) {
  ts::Matrix<double> c(block, block);
  ts::tsmttsm(ctx, ts::Op::adjoint, 1.0, x.view(), y.view(), 0.0, c.view());
  double sum = 0;
  for (ts::index_t j = 0; j < block; ++j) sum += c(j, j);
  return sum / (static_cast<double>(n) * block);
}

/// The share of eigenvalues below x.
double share_below(const std::vector<double>& mu, double x) {
  const double turn = std::acos(x), step = pi / (moments + 1);
  double share = mu[0] * (1 - turn / pi);
  for (int k = 1; k < moments; ++k) {
    const double jackson =
        ((moments - k + 1) * std::cos(k * step) + std::sin(k * step) / std::tan(step)) / (moments + 1);
    share -= 2 * jackson * mu[static_cast<std::size_t>(k)] * std::sin(k * turn) / (k * pi);
  }
  return share;
}

}  // namespace

int main() {
  const ts::Context ctx;
  const auto a = chain();
  ts::Matrix<double> x(n, block), now(n, block), next(n, block);
  ts::fill_random<double>(ctx, ts::Philox{3}, x.view());
  auto before = ts::Matrix<double>::copy_of(x.view());
  ts::spmm(ctx, ts::Op::none, 1.0, a.view(), x.view(), 0.0, now.view());
  const double norm = trace(ctx, x, x);
  std::vector<double> mu = {1, trace(ctx, x, now) / norm};
  while (std::ssize(mu) < moments) {
    ts::spmm(ctx, ts::Op::none, 2.0, a.view(), now.view(), -1.0, before.view());
    std::swap(now, before);
    mu.push_back(trace(ctx, x, now) / norm);
  }
  double worst = 0;
  for (const double at : {-0.8, -0.5, 0.0, 0.3, 0.7}) {
    const double exact = 1 - std::acos(at) / pi, found = share_below(mu, at);
    std::printf("below %4.1f: %.4f of the eigenvalues, exactly %.4f\n", at, found, exact);
    worst = std::max(worst, std::abs(found - exact));
  }
  expect(worst < 0.02, "the shares of the known spectrum");
}
