// Blocks and checks that the tests of ortho share.
#pragma once

#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/random.hpp"
#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/support/operands.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

/// n x p of independent standard normals (real and imaginary parts), from (seed, row, column) alone.
template <class T>
Matrix<T> random_block(index_t rows, index_t cols, std::uint64_t seed) {
  const solvers::Random random(20261121, seed);
  return matrix_of<T>(rows, cols, [&](index_t i, index_t j) {
    const auto z = random.normal2(static_cast<std::uint64_t>(i * cols + j));
    return element<T>(z[0], z[1]);
  });
}

/// n x p with orthonormal columns, n >= p.
template <class T>
Matrix<T> orthonormal_block(index_t rows, index_t cols, std::uint64_t seed) {
  auto x = random_block<T>(rows, cols, seed);
  Matrix<T> r(cols, cols);
  ortho::orthonormalise<T>(Context{}, ortho::HouseholderQr{}, x.view(), r.view());
  return x;
}

/// U diag(10^from .. 10^to) W^H with random orthonormal U (n x p) and W (p x p): condition 10^|to - from|.
template <class T>
Matrix<T> graded_block(index_t rows, index_t cols, double from, double to, std::uint64_t seed) {
  auto u = orthonormal_block<T>(rows, cols, seed);
  const auto w = orthonormal_block<T>(cols, cols, seed + 1);
  for (index_t j = 0; j < cols; ++j) {
    const double place = cols > 1 ? static_cast<double>(j) / static_cast<double>(cols - 1) : 0;
    for (index_t i = 0; i < rows; ++i) u(i, j) *= static_cast<real_t<T>>(std::pow(10.0, from + (to - from) * place));
  }
  Matrix<T> a(rows, cols);
  tsmm(Context{}, Op::adjoint, T{1}, u.cview(), w.cview(), T{0}, a.view());
  return a;
}

struct Orthonormalised {
  index_t rank = 0;       ///< columns of Q
  index_t dead = 0;       ///< directions of X that are not there
  bool complete = false;  ///< false: a breakdown in the block that begins at column `rank`
  int reductions = 0;
  index_t basis_columns = 0;
};

/// X = Q R in place, block after block of `width` columns, as solvers do it.
template <class T>
Orthonormalised orthonormalise(const Context& ctx, HostView<T> x, HostView<T> r, index_t width) {
  ortho::set_zero(r);
  Orthonormalised outcome;
  for (index_t j = 0; j < x.cols(); j += width) {
    const index_t b = std::min(width, x.cols() - j);
    const auto block = x.cols(j, b);
    Matrix<T> s(outcome.rank, b), rk(b, b);
    const HostView<const T> basis = x.cols(0, outcome.rank);
    const auto e = ortho::orthonormalise<T>(ctx, ortho::BcgsiPlusA{}, basis, block, s.view(), rk.view());
    outcome.reductions += e.work.reductions, outcome.basis_columns += e.work.basis_columns;
    if (e.rung == ortho::Rung::failed) return outcome;
    if (outcome.rank < j) ortho::copy<T>(block.cols(0, e.rank), x.cols(outcome.rank, e.rank));
    ortho::copy<T>(s.view(), r.block(0, j, outcome.rank, b));
    ortho::copy<T>(rk.view().rows(0, e.rank), r.block(outcome.rank, j, e.rank, b));
    outcome.rank += e.rank;
    outcome.dead += e.dead;
  }
  outcome.complete = true;
  return outcome;
}

/// max |X - Q R|
template <class T>
double residual(HostView<const T> x, HostView<const T> q, HostView<const T> r) {
  Matrix<T> product(x.rows(), x.cols());
  tsmm(Context{}, Op::none, T{1}, q, r, T{0}, product.view());
  return max_difference(product, x);
}

}  // namespace ts::test
