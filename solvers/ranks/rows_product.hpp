// Measures the error of factors of a sparse matrix, whose rows may be distributed.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/solvers/ranks/csr_rows.hpp"

namespace ts::inline v0::solvers {

/// One rank, on one thread.
[[nodiscard]] inline Context one_thread() {
  Context ctx;
  ctx.threads = 1;
  return ctx;
}

/// Products with a sparse matrix, which must outlive them on one rank; on several its rows are copied.
template <class T>
[[nodiscard]] Operator<T> product_of(const Context& ctx, const CsrView<T>& own) {
  if (ctx.communicator->size() == 1) return CsrOperator<T>(own);
  const auto entries = at(own.nonzeros());
  return CsrRows<T>(ctx, CsrMatrix<T>{own.rows,
                                      own.cols,
                                      {own.pointers, own.pointers + own.rows + 1},
                                      {own.indices, own.indices + entries},
                                      {own.values, own.values + entries}});
}

/// The largest absolute row sum, of all ranks: not below ||A||_2 of a Hermitian A.
template <class T>
[[nodiscard]] double row_sum_norm(const Context& ctx, const CsrView<T>& own) {
  std::vector<double> sums(at(own.rows));
  for_each_entry(own, [&](index_t i, index_t, const T& x) { sums[at(i)] += std::abs(x); });
  return max_of_ranks(ctx, sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end()));
}

}  // namespace ts::inline v0::solvers
