#include "tallskinny/solvers/eigen/krylov/factorisation.hpp"

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

template <class T>
Matrix<T> identity(index_t m) {
  auto s = Matrix<T>::zeros(m, m);
  for (index_t i = 0; i < m; ++i) s(i, i) = 1;
  return s;
}

/// ||(A V - V H) s|| for the Ritz vectors against what the basis says: max |true - claimed|.
template <class T>
double residual_error(const CsrMatrix<T>& a, solvers::KrylovFactorisation<T>& basis) {
  const Context ctx;
  const auto ritz = ritz_of(basis);
  const auto x = combine<T>(basis, ritz.coefficients.cview()).to_host(ctx);
  Matrix<T> ax(a.rows, x.cols());
  spmm(ctx, Op::none, T{1}, a.view(), x.cview(), T{0}, ax.view());
  double worst = 0;
  for (index_t j = 0; j < x.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < a.rows; ++i)
      sum += std::norm(ax(i, j) - ritz.values[static_cast<std::size_t>(j)] * x(i, j));
    worst = std::max(worst, std::abs(std::sqrt(sum) - ritz.residuals[static_cast<std::size_t>(j)]));
  }
  return worst;
}

using Reach = solvers::BasisReach;

template <class T>
void follow(const CsrMatrix<T>& a, Reach reach) {
  const Context ctx;
  solvers::KrylovFactorisation<T> basis(ctx, solvers::CsrOperator<T>(a.view()), 40, 3, true, false, reach);
  basis.start(HostView<const T>{}, 4);
  for (int i = 0; i < 5; ++i) basis.expand();
  CHECK(basis.size() == 20);
  CHECK(basis.width() == 4);
  CHECK(basis.work().applications == 20);
  const double bound = 1e3 * test::eps<double> * basis.norm();
  CHECK(residual_error(a, basis) < bound);

  thick_restart(basis, ritz_of(basis), {0, 1, 2, 17, 18, 19});
  CHECK(basis.size() == 6);
  CHECK(residual_error(a, basis) < bound);
  basis.expand();
  CHECK(residual_error(a, basis) < bound);

  Matrix<T> more(a.rows, 2);
  solvers::fill_random<T>(ctx, 1, 2, more.view());
  basis.widen(more.cview());
  CHECK(basis.width() == 6);
  basis.expand();
  CHECK(basis.size() == 16);
  CHECK(residual_error(a, basis) < bound);

  const auto before = ritz_of(basis);
  thick_restart(basis, before, {0, 1, 2, 3});
  const auto kept = combine<T>(basis, identity<T>(4).cview()).to_host(ctx);
  const auto saved = basis.lock(3);
  CHECK(basis.locked() == 4);
  basis.expand();
  basis.expand();
  // Nothing of what is locked comes back, and Ritz values of the complement lie inside of the spectrum.
  const auto active = combine<T>(basis, identity<T>(6).cview()).to_host(ctx);
  Matrix<T> inner(4, 6);
  tsmttsm(ctx, Op::adjoint, T{1}, kept.cview(), active.cview(), T{0}, inner.view());
  for (index_t i = 0; i < 24; ++i) CHECK(std::abs(inner.data()[i]) < allowed::short_sum);
  basis.unlock(saved);
  CHECK(basis.size() == 4);
  CHECK(basis.locked() == 0);
  CHECK(residual_error(a, basis) < bound);
}

}  // namespace

TEST_CASE("the Krylov decomposition holds through every change") {
  for (const Reach reach : {Reach::in_use, Reach::blocks, Reach::all}) {
    follow(generators::laplacian({12, 11}), reach);
    follow(generators::flux_ring(90, 0.7), reach);
  }
}

TEST_CASE("small bases on a device are read as a whole, large ones in blocks, those of the host as far as in use") {
  CHECK(solvers::basis_reach(Space::device, 780, 124, 8) == Reach::all);
  CHECK(solvers::basis_reach(Space::device, 8000, 124, 8) == Reach::all);
  CHECK(solvers::basis_reach(Space::device, 100'000, 124, 8) == Reach::blocks);
  CHECK(solvers::basis_reach(Space::device, 2'097'152, 124, 4) == Reach::blocks);
  CHECK(solvers::basis_reach(Space::device, 2'097'152, solvers::norm_columns, 8) == Reach::all);
  CHECK(solvers::basis_reach(Space::host, 780, 124, 8) == Reach::in_use);
  CHECK(solvers::columns_read(Reach::blocks, 36, 8, 128) == 40);
  CHECK(solvers::columns_read(Reach::blocks, 125, 24, 128) == 128);
  CHECK(solvers::columns_read(Reach::blocks, 0, 4, 128) == 0);
  CHECK(solvers::columns_read(Reach::all, 4, 4, 128) == 128);
  CHECK(solvers::columns_read(Reach::in_use, 36, 8, 128) == 36);
}

TEST_CASE("the decomposition holds where copies die and when the space is full") {
  // Ten copies of each of eleven values: couplings of every size between 1 and rounding.
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Reach reach = std::array{Reach::in_use, Reach::blocks, Reach::all}.at(seed % 3);
    auto a = generators::identity(101);
    for (std::size_t i = 0; i < 101; ++i) a.values[i] = std::cos(3.0 * static_cast<double>(i / 10));
    solvers::KrylovFactorisation<double> basis(Context{}, solvers::CsrOperator<double>(a.view()), 109, seed / 2, true,
                                               false, reach);
    basis.start(HostView<const double>{}, 8);
    while (!basis.exhausted()) {
      REQUIRE(basis.can_expand());
      basis.expand();
      REQUIRE(basis.size() <= 101);
      CHECK(residual_error(a, basis) < 1e3 * test::eps<double>);
    }
    CHECK(basis.size() == 101);
  }
}

TEST_CASE("the norm of matrices of one to three rows is seen") {
  for (index_t n = 1; n <= 3; ++n) {
    const auto a = generators::identity(n);
    index_t applied = 0;
    CHECK(solvers::estimate_norm<double>(Context{}, solvers::CsrOperator<double>(a.view()), 0, applied) == Approx(1));
  }
}

TEST_CASE("an invariant subspace is refilled until the space is exhausted") {
  const auto a = generators::identity(10);
  solvers::KrylovFactorisation<double> basis(Context{}, solvers::CsrOperator<double>(a.view()), 16, 1);
  basis.start(HostView<const double>{}, 3);
  while (!basis.exhausted()) {
    REQUIRE(basis.can_expand());
    basis.expand();
  }
  CHECK(basis.size() == 10);
  CHECK(basis.work().dead >= 9);
  const auto ritz = ritz_of(basis);
  for (const double v : ritz.values) CHECK(v == Approx(1));
  for (const double r : ritz.residuals) CHECK(r == 0);
}

TEST_CASE("a block step finds its block where the one before left it") {
  const auto a = generators::laplacian({15, 15});
  solvers::KrylovFactorisation<double> basis(Context{}, solvers::CsrOperator<double>(a.view()), 40, 3);
  basis.start(HostView<const double>{}, 4);
  Profile profile({});
  {
    const Profile::Use use(profile);
    for (int i = 0; i < 5; ++i) basis.expand();
  }
  const auto work = profile.work();
  const auto copies = std::find_if(work.begin(), work.end(), [](const WorkDone& w) { return w.what == "copies"; });
  REQUIRE(copies != work.end());
  CHECK(copies->calls == 6);  // F for the first step, and the new F of each to its place in the basis
}
