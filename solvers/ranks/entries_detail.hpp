// Entries of sparse matrices that change ranks.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tallskinny/gemm/comm/agree.hpp"

namespace ts::inline v0::solvers::detail {

/// An entry on its way, with numbers of the whole matrix.
template <class T>
struct Entry {
  std::int32_t row, col;
  T value;
};

/// Sends lists[r] to rank r; returns the lists that ranks sent here, in the order of ranks. The list for this rank
/// stays.
template <class T>
std::vector<std::vector<Entry<T>>> exchanged(const Context& ctx, std::vector<std::vector<Entry<T>>> lists) {
  const std::size_t ranks = lists.size(), here = static_cast<std::size_t>(ctx.communicator->rank());
  std::vector<index_t> sizes;
  sizes.reserve(ranks);
  for (const auto& list : lists) sizes.push_back(std::ssize(list));
  const std::vector<index_t> all = gather_lists<index_t>(ctx, sizes);
  std::vector<std::vector<Entry<T>>> got(ranks);
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == here) {
      got[r] = std::move(lists[r]);
      continue;
    }
    got[r].resize(static_cast<std::size_t>(all[r * ranks + here]));
    if (!lists[r].empty()) out.push_back({static_cast<int>(r), std::as_bytes(std::span(lists[r]))});
    if (!got[r].empty()) in.push_back({static_cast<int>(r), std::as_writable_bytes(std::span(got[r]))});
  }
  ctx.communicator->begin_exchange(out, in)->wait();
  return got;
}

}  // namespace ts::inline v0::solvers::detail
