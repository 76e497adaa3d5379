// What the sparse factorisations share. Holds Eigen: for the .cpp files of this folder alone.
#pragma once

#include <Eigen/SparseCore>
#include <cmath>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/operator.hpp"
#include "tallskinny/solvers/random_block.hpp"

namespace ts::solvers::detail {

template <class T>
using Sparse = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int64_t>;
template <class T>
using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Appends the entries of `factor` M.
template <class T, class I>
void append(std::vector<Eigen::Triplet<T, I>>& entries, CsrView<T> m, double factor = 1) {
  for_each_entry(m, [&](index_t i, index_t j, const T& x) {
    entries.emplace_back(static_cast<I>(i), static_cast<I>(j), factor * x);
  });
}

template <class T>
Column<T> random_column(index_t n, std::uint64_t stream) {
  Matrix<T> x(n, 1);
  Context ctx;
  ctx.threads = 1;
  fill_random<T>(ctx, 0x5eed, stream, x.view());
  return Eigen::Map<const Column<T>>(x.data(), n);
}

/// ||M^-1|| from below, by three steps of inverse iteration; `body` solves with M.
template <class T, class Body>
double inverse_norm(const Body& body) {
  Column<T> x = random_column<T>(body.n, 2);
  double growth = 0;
  for (int step = 0; step < 3; ++step) {
    x /= x.norm();
    x = body.solve(x);
    growth = x.norm();
    if (!std::isfinite(growth)) return inf;
  }
  return growth;
}

/// Y = f(X), column by column: the bits do not depend on the number of threads.
template <class T, class Function>
void apply_columns(const Context& ctx, const Function& f, HostView<const T> x, HostView<T> y) {
  const index_t n = x.rows(), p = x.cols();
  const Profile::Piece piece(ctx, "solves with factors", {}, std::nullopt);
  parallel_for(ctx.thread_count(), p, [&](index_t j) {
    Column<T> b(n);
    for (index_t i = 0; i < n; ++i) b(i) = x(i, j);
    const Column<T> image = f(b);
    for (index_t i = 0; i < n; ++i) y(i, j) = image(i);
  });
}

}  // namespace ts::solvers::detail
