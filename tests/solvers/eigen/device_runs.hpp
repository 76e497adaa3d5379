// Runs on a device for tests.
#pragma once

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/device.hpp"

namespace ts::test {

using solvers::Which;
/// A body that knows the host alone: Y = 2 X.
struct Twice {
  index_t n;
  [[nodiscard]] index_t rows() const { return n; }
  void apply(const Context&, HostView<const double> x, HostView<double> y) const {
    for (index_t i = 0; i < x.rows(); ++i)
      for (index_t j = 0; j < x.cols(); ++j) y(i, j) = 2 * x(i, j);
  }
};

template <class T>
solvers::EigenResult<T> solve(const Context& ctx, const solvers::Operator<T>& a, Which which, index_t nev,
                              solvers::Method method = solvers::Method::lanczos) {
  solvers::EigenOptions o{.nev = nev, .which = which, .tol = 1e-9, .method = method};
  return solvers::solve_eigen<T>(ctx, {a}, o);
}

/// The residual norms that a run on the GPU tells, against those that the processor computes of its vectors.
template <class T>
void check_residual_norms(const CsrMatrix<T>& a, const solvers::EigenResult<T>& r) {
  Matrix<T> residuals(r.vectors.rows(), r.vectors.cols());
  solvers::compensated_residual(Context{}, a.view(), r.vectors.cview(), r.values, residuals.view());
  std::vector<double> norms(r.values.size());
  ortho::Tall<T>(Context{}).norms(PlacedView<const T>(residuals.cview()), norms);
  for (std::size_t i = 0; i < norms.size(); ++i)
    CHECK(std::abs(r.residual_norms[i] - norms[i]) <= allowed::tight_run * norms[i]);
}

/// The set of the GPU against that of the processor, and against itself.
template <class T>
void compare(const CsrMatrix<T>& a, Which which, index_t nev, solvers::Method method = solvers::Method::lanczos) {
  const Context ctx = device_context();
  const DeviceCsrMatrix<T> there(ctx.stream, a.view());
  const solvers::Operator<T> on_device = solvers::CsrOperator<T>(a.view(), there.view());
  const auto here = solve<T>(Context{}, solvers::CsrOperator<T>(a.view()), which, nev, method);
  const auto r = solve<T>(ctx, on_device, which, nev, method), again = solve<T>(ctx, on_device, which, nev, method);
  CAPTURE(r.reason, r.operator_applications, here.operator_applications);
  CHECK(r.verified);
  CHECK(r.orthogonality_loss < allowed::long_sum);
  CHECK((r.filter_degree > 0) == (here.filter_degree > 0));  // how far it goes depends on the edges seen
  REQUIRE(r.values.size() == here.values.size());
  for (std::size_t i = 0; i < r.values.size(); ++i)
    CHECK(std::abs(r.values[i] - here.values[i]) < allowed::default_run * here.norm);
  CHECK(r.multiplicities == here.multiplicities);
  check_residual_norms(a, r);
  CHECK(r.values == again.values);
  const auto count = static_cast<std::size_t>(r.vectors.rows() * r.vectors.cols());
  const std::span<const T> bits(r.vectors.data(), count), bits_again(again.vectors.data(), count);
  CHECK(std::equal(bits.begin(), bits.end(), bits_again.begin()));
}

}  // namespace ts::test
