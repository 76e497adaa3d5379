// Sparse matrices and single columns as Eigen takes them. Holds Eigen: for .cpp files alone.
#pragma once

#include <Eigen/SparseCore>
#include <cstdint>
#include <vector>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers::detail {

template <class T, class I = std::int64_t>
using Sparse = Eigen::SparseMatrix<T, Eigen::ColMajor, I>;
template <class T>
using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// scale A + shift I by columns, rows rising; entries that stand twice are added up.
template <class T, class I = std::int64_t>
Sparse<T, I> sparse_of(CsrView<T> a, double scale = 1, double shift = 0) {
  std::vector<Eigen::Triplet<T, I>> entries;
  entries.reserve(at(a.nonzeros() + a.rows));
  for_each_entry(a, [&](index_t i, index_t j, const T& x) {
    entries.emplace_back(static_cast<I>(i), static_cast<I>(j), scale * x);
  });
  for (I i = 0; shift != 0 && i < a.rows; ++i) entries.emplace_back(i, i, T(shift));
  Sparse<T, I> sum(a.rows, a.cols);
  sum.setFromTriplets(entries.begin(), entries.end());
  return sum;
}

/// Y = f(X), column by column: the bits do not depend on the number of threads.
template <class T, class Function>
void apply_columns(const Context& ctx, const Function& f, HostView<const T> x, HostView<T> y) {
  const index_t n = x.rows(), p = x.cols();
  parallel_for(ctx.thread_count(), p, [&](index_t j) {
    Column<T> b(n);
    for (index_t i = 0; i < n; ++i) b(i) = x(i, j);
    const Column<T> image = f(b);
    for (index_t i = 0; i < n; ++i) y(i, j) = image(i);
  });
}

}  // namespace ts::inline v0::solvers::detail
