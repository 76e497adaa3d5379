#include "tallskinny/solvers/ranks/moved_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tallskinny/solvers/ranks/entries_detail.hpp"
#include "tallskinny/solvers/ranks/halo_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

template <class T>
CsrMatrix<T> pattern_on_first(const Context& ctx, const CsrView<T>& own) {
  detail::expect_own(ctx, own.rows, own.cols);
  const index_t mine = own.nonzeros();
  const std::vector<index_t> entries = gather_lists<index_t>(ctx, std::span(&mine, 1));
  const std::span pointers(own.pointers + 1, at(own.rows));
  const std::span indices(own.indices, at(mine));
  CsrMatrix<T> all;
  if (ctx.communicator->rank() != 0) {
    std::vector<Outgoing> out;
    if (own.rows > 0) out.push_back({0, std::as_bytes(pointers)});
    if (mine > 0) out.push_back({0, std::as_bytes(indices)});
    ctx.communicator->begin_exchange(out, {})->wait();
    return all;
  }
  all.rows = all.cols = own.cols;
  all.pointers.resize(at(all.rows) + 1);
  index_t count = 0;
  for (const index_t of_rank : entries) count += of_rank;
  all.indices.resize(at(count));
  std::copy(pointers.begin(), pointers.end(), all.pointers.begin() + 1);
  std::copy(indices.begin(), indices.end(), all.indices.begin());
  std::vector<Incoming> in;
  index_t begin = mine;
  for (int r = 1; r < ctx.communicator->size(); begin += entries[at(r)], ++r) {
    const auto rows = std::span(all.pointers).subspan(at(ctx.slabs.begin(r)) + 1, at(ctx.slabs.rows(r)));
    const auto columns = std::span(all.indices).subspan(at(begin), at(entries[at(r)]));
    if (!rows.empty()) in.push_back({r, std::as_writable_bytes(rows)});
    if (!columns.empty()) in.push_back({r, std::as_writable_bytes(columns)});
  }
  ctx.communicator->begin_exchange({}, in)->wait();
  begin = mine;
  for (int r = 1; r < ctx.communicator->size(); begin += entries[at(r)], ++r)
    for (index_t i = ctx.slabs.begin(r); i < ctx.slabs.begin(r + 1); ++i) all.pointers[at(i) + 1] += begin;
  return all;
}

template <class T>
CsrMatrix<T> reordered_rows(const Context& ctx, const CsrView<T>& own, std::span<const index_t> order,
                            const RowSlabs& to) {
  detail::expect_own(ctx, own.rows, own.cols);
  const index_t first = first_row(ctx);
  std::vector<std::int32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[at(order[i])] = static_cast<std::int32_t>(i);
  std::vector<std::vector<detail::Entry<T>>> lists(at(ctx.communicator->size()));
  for (index_t i = 0; i < own.rows; ++i) {
    const std::int32_t row = place[at(first + i)];
    auto& list = lists[at(to.slab_of(row))];
    for (index_t e = own.pointers[i]; e < own.pointers[i + 1]; ++e)
      list.push_back({row, place[at(own.indices[e])], own.values[e]});
  }
  const auto got = detail::exchanged(ctx, std::move(lists));
  const int here = ctx.communicator->rank();
  const index_t begin = to.begin(here);
  CsrMatrix<T> rows;
  rows.rows = to.rows(here), rows.cols = own.cols;
  rows.pointers.assign(at(rows.rows) + 1, 0);
  for (const auto& list : got)
    for (const detail::Entry<T>& e : list) ++rows.pointers[at(e.row - begin) + 1];
  for (std::size_t i = 1; i < rows.pointers.size(); ++i) rows.pointers[i] += rows.pointers[i - 1];
  rows.indices.resize(at(rows.nonzeros())), rows.values.resize(rows.indices.size());
  // A row comes from one rank, its entries in their order.
  std::vector<std::pair<std::int32_t, T>> row;
  for (const auto& list : got)
    for (auto e = list.begin(); e != list.end();) {
      row.clear();
      const std::int32_t number = e->row;
      for (; e != list.end() && e->row == number; ++e) row.emplace_back(e->col, e->value);
      std::stable_sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
      std::size_t k = at(rows.pointers[at(number - begin)]);
      for (const auto& [column, value] : row) rows.indices[k] = column, rows.values[k] = value, ++k;
    }
  return rows;
}

template <class T>
Matrix<T> moved_rows(const Context& ctx, HostView<const T> x, std::span<const index_t> place) {
  constexpr index_t most_columns = 8;  // at a time, for what travels is there twice
  const int ranks = ctx.communicator->size(), here = ctx.communicator->rank();
  const RowSlabs slabs = ranks > 1 ? ctx.slabs : RowSlabs({0, x.rows()});
  expects(slabs.rows() == std::ssize(place) && slabs.rows(here) == x.rows(),
          "rows of a block get new places: one for each row of all ranks");
  // For each rank: rows that go there, and places here of rows that come from there, in the order in which they leave.
  std::vector<std::vector<index_t>> leaving(at(ranks)), arriving(at(ranks));
  for (int r = 0; r < ranks; ++r)
    for (index_t i = slabs.begin(r); i < slabs.begin(r + 1); ++i) {
      const int owner = slabs.slab_of(place[at(i)]);
      if (r == here) leaving[at(owner)].push_back(i - slabs.begin(here));
      if (owner == here) arriving[at(r)].push_back(place[at(i)] - slabs.begin(here));
    }
  Matrix<T> moved(x.rows(), x.cols());
  for (index_t begin = 0; begin < x.cols(); begin += most_columns) {
    const index_t cols = std::min(most_columns, x.cols() - begin);
    std::vector<Matrix<T>> sent, got;
    sent.reserve(at(ranks)), got.reserve(at(ranks));
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    const auto bytes = [](Matrix<T>& m) {
      return std::as_writable_bytes(std::span(m.data(), at(m.rows() * m.cols())));
    };
    for (int r = 0; r < ranks; ++r) {
      Matrix<T>& piece = sent.emplace_back(std::ssize(leaving[at(r)]), cols);
      for (index_t i = 0; i < piece.rows(); ++i)
        for (index_t j = 0; j < cols; ++j) piece(i, j) = x(leaving[at(r)][at(i)], begin + j);
      got.emplace_back(r == here ? 0 : std::ssize(arriving[at(r)]), cols);
    }
    for (int r = 0; r < ranks; ++r) {
      if (r == here) continue;
      if (sent[at(r)].rows() > 0) out.push_back({r, bytes(sent[at(r)])});
      if (got[at(r)].rows() > 0) in.push_back({r, bytes(got[at(r)])});
    }
    ctx.communicator->begin_exchange(out, in)->wait();
    std::swap(got[at(here)], sent[at(here)]);
    for (int r = 0; r < ranks; ++r)
      for (index_t i = 0; i < got[at(r)].rows(); ++i)
        for (index_t j = 0; j < cols; ++j) moved(arriving[at(r)][at(i)], begin + j) = got[at(r)](i, j);
  }
  return moved;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, pattern_on_first)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, reordered_rows)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, moved_rows)

}  // namespace ts::inline v0::solvers
