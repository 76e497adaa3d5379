// Ranks that are threads of this process, and what each has of a matrix.
#pragma once

#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

using Shared = std::shared_ptr<Communicator>;

/// The context of one thread whose results any number of ranks must repeat.
inline Context one_rank() { return Context{.threads = 1, .determinism = Determinism::gpu_to_gpu}; }

/// `ctx` on a rank, of slabs of whole units where only the number of rows is given.
inline Context of_rank(Context ctx, const Shared& communicator, RowSlabs slabs) {
  ctx.communicator = communicator, ctx.slabs = std::move(slabs);
  return ctx;
}
inline Context of_rank(const Context& ctx, const Shared& communicator, index_t n) {
  return of_rank(ctx, communicator, RowSlabs::of_units(n, communicator->size()));
}

/// body(context of the rank) on a rank for each slab; the sentence of what one of them threw, else nothing.
template <class Body>
std::string on_slabs(const Context& ctx, const RowSlabs& slabs, const Body& body) {
  return message_of([&] { run_on_threads(slabs.slabs(), [&](const Shared& c) { body(of_rank(ctx, c, slabs)); }); });
}

/// On threads of ranks, where Catch may not check.
inline void expect(bool holds, const std::string& what) {
  if (!holds) throw Error(Errc::invalid_argument, what);
}

/// True if `part` is the rows of `whole` from `first` on.
template <class T>
bool same_rows(const Matrix<T>& whole, index_t first, const Matrix<T>& part) {
  const index_t cols = whole.cols();
  return part.cols() == cols && std::equal(part.data(), part.data() + part.rows() * cols, whole.data() + first * cols);
}

/// Slabs of units and, for what treats rows one by one, some that begin anywhere.
inline std::vector<RowSlabs> distributions_of(index_t n) {
  std::vector<RowSlabs> all;
  for (const int ranks : {1, 2, 3, 4, 8}) all.push_back(RowSlabs::of_units(n, ranks));
  if (n > 3) all.push_back(RowSlabs({0, 0, 1, n / 3, n / 3, n - 1, n, n}));
  return all;
}

/// Some rows, with column numbers of type I.
template <class I, class T>
CsrMatrix<T, I> rows_of(const CsrMatrix<T>& a, index_t first, index_t rows) {
  return csr_by_rows<T, I>(rows, a.cols, [&](index_t i, auto add) {
    const auto row = static_cast<std::size_t>(first + i);
    for (auto e = static_cast<std::size_t>(a.pointers[row]); e < static_cast<std::size_t>(a.pointers[row + 1]); ++e)
      add(a.indices[e], a.values[e]);
  });
}

/// Those that ctx.slabs gives this rank.
template <class T, class I = std::int32_t>
CsrMatrix<T, I> own_rows(const CsrMatrix<T>& a, const Context& ctx) {
  return rows_of<I>(a, first_row(ctx), ctx.slabs.rows(ctx.communicator->rank()));
}

}  // namespace ts::test
