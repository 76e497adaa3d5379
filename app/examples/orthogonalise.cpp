// CholeskyQR2 with the verbs of the engine: G = X^H X = R^H R, X = X R^-1, twice.
// Source: Yamamoto, Nakatsukasa, Yanagisawa, Fukaya 2015.
#include <cmath>

#include "tallskinny/app/examples/check.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace {

/// The upper factor of a positive definite p x p matrix, in place.
void cholesky(ts::HostView<double> g) {
  for (ts::index_t k = 0; k < g.rows(); ++k) {
    for (ts::index_t i = 0; i < k; ++i)
      for (ts::index_t j = k; j < g.cols(); ++j) g(k, j) -= g(i, k) * g(i, j);
    expect(g(k, k) > 0, "the columns are independent");
    const double root = std::sqrt(g(k, k));
    for (ts::index_t j = k; j < g.cols(); ++j) g(k, j) /= root;
  }
}

}  // namespace

int main() {
  constexpr ts::index_t n = 20000, p = 8;
  const ts::Context ctx;
  ts::Matrix<double> x(n, p), g(p, p), product(p, p), all_of_r(p, p), before(n, p);
  ts::fill_random<double>(ctx, ts::Philox{1}, x.view());
  for (ts::index_t i = 0; i < n; ++i) x(i, 1) = x(i, 0) + 1e-4 * x(i, 1);  // two columns that are nearly one
  before = ts::Matrix<double>::copy_of(x.view());
  for (int pass = 0; pass < 2; ++pass) {
    ts::gram(ctx, ts::Op::adjoint, 1.0, x.view(), 0.0, g.view());
    cholesky(g.view());
    ts::trsm(ctx, x.view(), g.view());
    for (ts::index_t i = 0; i < p; ++i)
      for (ts::index_t j = 0; j < i; ++j) g(i, j) = 0;
    if (pass == 0) all_of_r = ts::Matrix<double>::copy_of(g.view());
  }
  ts::tsmm(ctx, ts::Op::none, 1.0, g.view(), all_of_r.view(), 0.0, product.view());  // R = R2 R1
  ts::gram(ctx, ts::Op::adjoint, 1.0, x.view(), 0.0, g.view());
  double loss = 0;
  for (ts::index_t i = 0; i < p; ++i)
    for (ts::index_t j = 0; j < p; ++j) loss = std::max(loss, std::abs(g(i, j) - (i == j ? 1 : 0)));
  ts::tsmm(ctx, ts::Op::none, -1.0, x.view(), product.view(), 1.0, before.view());  // X - Q R
  double residual = 0;
  for (ts::index_t i = 0; i < n; ++i)
    for (ts::index_t j = 0; j < p; ++j) residual = std::max(residual, std::abs(before(i, j)));
  std::printf("loss of orthogonality %.1e, X - Q R %.1e\n", loss, residual);
  expect(loss < 1e-14 && residual < 1e-12, "X = Q R with orthonormal Q");
}
