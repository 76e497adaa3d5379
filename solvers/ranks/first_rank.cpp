#include "tallskinny/solvers/ranks/first_rank.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

void first_alone(const Context& ctx, const std::function<void()>& work) {
  Communicator& all = *ctx.communicator;
  std::byte done{};
  const auto wake = [&] {
    std::vector<Outgoing> out;
    out.reserve(static_cast<std::size_t>(all.size()));
    for (int r = 1; r < all.size(); ++r) out.push_back({r, std::span(&done, 1)});
    all.begin_exchange(out, {})->wait();
  };
  agreed(ctx, [&] {
    if (!is_first(ctx)) {
      const std::array<Incoming, 1> in = {{{0, std::span(&done, 1)}}};
      return all.begin_exchange({}, in)->wait_asleep();
    }
    try {
      work();
    } catch (...) {
      wake();
      throw;
    }
    wake();
  });
}

namespace {

/// Gathers the elements of all ranks in `all` on rank 0. @param offsets of ranks within `all`, in elements
template <class T>
void to_first(const Context& ctx, std::span<const T> mine, std::span<T> all, std::span<const std::size_t> offsets) {
  Communicator& ranks = *ctx.communicator;
  const std::array<Outgoing, 1> out = {{{0, std::as_bytes(mine)}}};
  if (!is_first(ctx)) return ranks.begin_exchange(out, {})->wait();
  std::vector<Incoming> in;
  in.reserve(offsets.size());
  for (std::size_t r = 1; r + 1 < offsets.size(); ++r)
    in.push_back({static_cast<int>(r), std::as_writable_bytes(all.subspan(offsets[r], offsets[r + 1] - offsets[r]))});
  const auto exchange = ranks.begin_exchange({}, in);
  std::copy(mine.begin(), mine.end(), all.begin());
  exchange->wait();
}

/// The lists of all ranks, in their order.
template <class T>
std::vector<T> gathered(const Context& ctx, std::span<const T> mine) {
  const std::size_t size = mine.size();
  std::vector<std::size_t> offsets = gather_lists<std::size_t>(ctx, std::span(&size, 1));
  offsets.insert(offsets.begin(), 0);
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<T> all(is_first(ctx) ? offsets.back() : 0);
  to_first<T>(ctx, mine, all, offsets);
  return all;
}

/// Offset of each rank's rows of `cols` elements, with the end.
std::vector<std::size_t> offsets_of(const Context& ctx, index_t cols) {
  std::vector<std::size_t> offsets;
  offsets.reserve(static_cast<std::size_t>(ctx.slabs.slabs()) + 1);
  for (int r = 0; r <= ctx.slabs.slabs(); ++r) offsets.push_back(at(ctx.slabs.begin(r) * cols));
  return offsets;
}

template <class T>
std::span<const T> elements(const Matrix<T>& m) {
  return {m.data(), at(m.rows() * m.cols())};
}

}  // namespace

template <class T>
Matrix<T> gathered_rows(const Context& ctx, HostView<const T> x) {
  Matrix<T> all(is_first(ctx) ? ctx.slabs.rows() : 0, x.cols());
  const Matrix<T> mine = Matrix<T>::copy_of(x);
  to_first<T>(ctx, elements(mine), {all.data(), elements(all).size()}, offsets_of(ctx, x.cols()));
  return all;
}

template <class T>
void scatter_rows(const Context& ctx, const Matrix<T>& all, HostView<T> y) {
  Communicator& ranks = *ctx.communicator;
  if (is_first(ctx)) {
    const auto offsets = offsets_of(ctx, y.cols());
    std::vector<Outgoing> out;
    out.reserve(offsets.size());
    for (std::size_t r = 1; r + 1 < offsets.size(); ++r)
      out.push_back(
          {static_cast<int>(r), std::as_bytes(elements(all).subspan(offsets[r], offsets[r + 1] - offsets[r]))});
    const auto exchange = ranks.begin_exchange(out, {});
    copy_block<T>(ctx, PlacedView<const T>(all.cview().rows(0, y.rows())), PlacedView<T>(y));
    return exchange->wait();
  }
  Matrix<T> mine(y.rows(), y.cols());
  const std::array<Incoming, 1> in = {{{0, std::as_writable_bytes(std::span(mine.data(), elements(mine).size()))}}};
  ranks.begin_exchange({}, in)->wait();
  copy_block<T>(ctx, PlacedView<const T>(mine.cview()), PlacedView<T>(y));
}

template <class T>
CsrMatrix<T> gathered_matrix(const Context& ctx, const CsrView<T>& own) {
  const auto entries = at(own.nonzeros());
  std::vector<index_t> counts;
  counts.reserve(at(own.rows));
  for (index_t i = 0; i < own.rows; ++i) counts.push_back(own.pointers[i + 1] - own.pointers[i]);
  CsrMatrix<T> all;
  all.cols = own.cols;
  all.pointers = gathered<index_t>(ctx, counts);
  all.rows = std::ssize(all.pointers);
  all.pointers.insert(all.pointers.begin(), 0);
  std::partial_sum(all.pointers.begin(), all.pointers.end(), all.pointers.begin());
  all.indices = gathered<std::int32_t>(ctx, {own.indices, entries});
  all.values = gathered_values(ctx, own);
  return all;
}

template <class T>
std::vector<T> gathered_values(const Context& ctx, const CsrView<T>& own) {
  return gathered<T>(ctx, {own.values, at(own.nonzeros())});
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, gathered_rows)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, scatter_rows)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, gathered_matrix)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, gathered_values)

}  // namespace ts::inline v0::solvers
