#include "tallskinny/solvers/ranks/transposed_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tallskinny/solvers/ranks/entries_detail.hpp"
#include "tallskinny/solvers/ranks/halo_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

/// The entries of A^T whose rows are those of `own` in A, for each rank that has them: those here stay in `own`.
template <class T>
std::vector<std::vector<detail::Entry<T>>> for_ranks(const Context& ctx, const CsrView<T>& own, index_t first) {
  const int ranks = ctx.communicator->size();
  std::vector<std::vector<detail::Entry<T>>> lists(static_cast<std::size_t>(ranks));
  if (ranks == 1) return lists;
  std::vector<index_t> begins;  // of slabs
  for (int r = 0; r <= ranks; ++r) begins.push_back(ctx.slabs.begin(r));
  const auto owner_of = [&](index_t row) {
    return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), row) - begins.begin() - 1);
  };
  for (index_t i = 0; i < own.rows; ++i)
    for (index_t e = own.pointers[i]; e < own.pointers[i + 1]; ++e)
      if (const std::int32_t j = own.indices[e]; j < first || j >= first + own.rows)
        lists[owner_of(j)].push_back({j, static_cast<std::int32_t>(first + i), own.values[e]});
  return lists;
}

}  // namespace

template <class T>
CsrMatrix<T> transposed_rows(const Context& ctx, const CsrView<T>& own) {
  detail::expect_own(ctx, own.rows, own.cols);
  for (index_t e = 0; e < own.nonzeros(); ++e)
    expects(own.indices[e] >= 0 && own.indices[e] < own.cols,
            "a column number of the matrix by rows is beyond its columns");
  const index_t first = first_row(ctx);
  const auto got = detail::exchanged(ctx, for_ranks(ctx, own, first));
  const auto here = static_cast<std::size_t>(ctx.communicator->rank());
  // Ranks in their order, and of each its rows in theirs: a row of A^T meets its columns ascending.
  const auto visit = [&](const auto& entry) {
    for (std::size_t r = 0; r < got.size(); ++r) {
      for (const detail::Entry<T>& e : got[r]) entry(e.row - first, e.col, e.value);
      if (r != here) continue;
      for (index_t i = 0; i < own.rows; ++i)
        for (index_t e = own.pointers[i]; e < own.pointers[i + 1]; ++e)
          if (const index_t j = own.indices[e] - first; j >= 0 && j < own.rows)
            entry(j, static_cast<std::int32_t>(first + i), own.values[e]);
    }
  };
  CsrMatrix<T> t;
  t.rows = own.rows, t.cols = own.cols;
  t.pointers.assign(static_cast<std::size_t>(t.rows) + 1, 0);
  visit([&](index_t row, std::int32_t, T) { ++t.pointers[static_cast<std::size_t>(row) + 1]; });
  for (std::size_t i = 1; i < t.pointers.size(); ++i) t.pointers[i] += t.pointers[i - 1];
  std::vector<index_t> next(t.pointers.begin(), t.pointers.end() - 1);
  t.indices.resize(static_cast<std::size_t>(t.nonzeros())), t.values.resize(t.indices.size());
  visit([&](index_t row, std::int32_t col, T value) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++);
    t.indices[at] = col, t.values[at] = value;
  });
  return t;
}

template <class T>
Matrix<T> transposed_rows(const Context& ctx, HostView<const T> own) {
  detail::expect_own(ctx, own.rows(), own.cols());
  const auto ranks = static_cast<std::size_t>(ctx.communicator->size());
  const RowSlabs slabs = ranks > 1 ? ctx.slabs : RowSlabs({0, own.rows()});
  std::vector<std::vector<T>> to(ranks),
      from(ranks);  // of A^T the rows of rank r, columns here; rows here, columns of r
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (std::size_t r = 0; r < ranks; ++r) {
    const index_t begin = slabs.begin(static_cast<int>(r)), end = slabs.begin(static_cast<int>(r) + 1);
    for (index_t j = begin; j < end; ++j)
      for (index_t i = 0; i < own.rows(); ++i) to[r].push_back(own(i, j));
    if (to[r].empty() || r == static_cast<std::size_t>(ctx.communicator->rank())) continue;
    from[r].resize(to[r].size());
    out.push_back({static_cast<int>(r), std::as_bytes(std::span(to[r]))});
    in.push_back({static_cast<int>(r), std::as_writable_bytes(std::span(from[r]))});
  }
  ctx.communicator->begin_exchange(out, in)->wait();
  from[static_cast<std::size_t>(ctx.communicator->rank())] =
      std::move(to[static_cast<std::size_t>(ctx.communicator->rank())]);
  Matrix<T> t(own.rows(), own.cols());
  for (std::size_t r = 0; r < ranks; ++r) {
    const index_t begin = slabs.begin(static_cast<int>(r)), cols = slabs.rows(static_cast<int>(r));
    for (index_t i = 0; i < own.rows(); ++i) std::copy_n(from[r].data() + i * cols, cols, &t(i, begin));
  }
  return t;
}

template <class T>
CsrMatrix<T> mirrored_rows(const Context& ctx, const CsrView<T>& own, const std::function<T(T)>& image) {
  const CsrMatrix<T> others = transposed_rows(ctx, own);
  const index_t first = first_row(ctx);
  CsrMatrix<T> full;
  full.rows = own.rows, full.cols = own.cols;
  full.pointers.reserve(static_cast<std::size_t>(own.rows) + 1);
  full.indices.reserve(static_cast<std::size_t>(own.nonzeros() + others.nonzeros()));
  full.values.reserve(full.indices.capacity());
  const auto put = [&](std::int32_t column, T value) { full.indices.push_back(column), full.values.push_back(value); };
  for (index_t i = 0; i < own.rows; ++i) {
    auto k = static_cast<std::size_t>(others.pointers[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(others.pointers[static_cast<std::size_t>(i) + 1]);
    for (; k < end && others.indices[k] < first + i; ++k) put(others.indices[k], image(others.values[k]));
    for (index_t e = own.pointers[i]; e < own.pointers[i + 1]; ++e) put(own.indices[e], own.values[e]);
    for (; k < end; ++k)
      if (others.indices[k] > first + i) put(others.indices[k], image(others.values[k]));
    full.pointers.push_back(std::ssize(full.indices));
  }
  return full;
}

#define TS_INSTANTIATE(T)                                                   \
  template Matrix<T> transposed_rows<T>(const Context&, HostView<const T>); \
  template CsrMatrix<T> transposed_rows<T>(const Context&, const CsrView<T>&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, mirrored_rows)

}  // namespace ts::inline v0::solvers
