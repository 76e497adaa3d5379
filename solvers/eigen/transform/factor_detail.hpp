// What the sparse factorisations share. Holds Eigen: for the .cpp files of this folder alone.
#pragma once

#include <Eigen/SparseCore>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/operator.hpp"

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
