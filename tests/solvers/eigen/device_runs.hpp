// Runs on a device for tests.
#pragma once

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/device.hpp"

namespace ts::test {

/// A body that knows the host alone: Y = 2 X.
struct Twice {
  index_t n;
  [[nodiscard]] index_t rows() const { return n; }
  void apply(const Context&, HostView<const double> x, HostView<double> y) const {
    for (index_t i = 0; i < x.rows(); ++i)
      for (index_t j = 0; j < x.cols(); ++j) y(i, j) = 2 * x(i, j);
  }
};

/// To 1e-9.
inline EigenOptions fine_options(index_t nev, Which which, Method method = Method::automatic) {
  return EigenOptions{.nev = nev, .which = which, .tol = 1e-9, .method = method};
}

inline Context typical_context() { return rehearsing_context(cuda::typical_device("sm_90a")); }

/// A matrix that is on the device, too.
template <class T, class I = std::int32_t>
struct InBothPlaces {
  InBothPlaces(const Context& ctx, CsrMatrix<T, I> a) : here(std::move(a)), there(ctx.stream, here.view()) {}
  [[nodiscard]] solvers::Operator<T> op() const { return solvers::CsrOperator<T, I>(here.view(), there.view()); }

  CsrMatrix<T, I> here;
  DeviceCsrMatrix<T, I> there;
};

/// The residual norms that a run on the GPU tells, against those that the processor computes of its vectors.
template <class T>
void check_residual_norms(const CsrMatrix<T>& a, const EigenResult<T>& r) {
  Matrix<T> residuals(r.vectors.rows(), r.vectors.cols());
  solvers::compensated_residual(Context{}, a.view(), r.vectors.cview(), r.values, residuals.view());
  std::vector<double> norms(r.values.size());
  ortho::Tall<T>(Context{}).norms(PlacedView<const T>(residuals.cview()), norms);
  for (std::size_t i = 0; i < norms.size(); ++i)
    CHECK(std::abs(r.residual_norms[i] - norms[i]) <= allowed::tight_run * norms[i]);
}

/// The set of the GPU against that of the processor, and against itself.
template <class T>
void compare(const CsrMatrix<T>& a, const EigenOptions& o) {
  const Context ctx = device_context();
  const InBothPlaces<T> both(ctx, a);
  const auto here = solve(a, o);
  const auto r = solvers::solve_eigen<T>(ctx, {both.op()}, o), again = solvers::solve_eigen<T>(ctx, {both.op()}, o);
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
