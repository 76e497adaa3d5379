#include "tallskinny/gemm/comm/agree.hpp"

#include <algorithm>
#include <numeric>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0 {

namespace {

constexpr const char* one_after_the_other = "slabs one after the other cannot agree";

/// One value of each rank.
template <class T>
std::vector<T> of_ranks(const Context& ctx, T here) {
  const auto ranks = static_cast<std::size_t>(ctx.communicator->size());
  std::vector<T> all(ranks, here);
  std::vector<std::size_t> offsets(ranks + 1);
  for (std::size_t r = 0; r <= ranks; ++r) offsets[r] = r * sizeof(T);
  expects(ctx.communicator->all_gather(reinterpret_cast<std::byte*>(all.data()), offsets), one_after_the_other);
  return all;
}

}  // namespace

void in_turn(const Context& ctx, std::span<double> state, const std::function<void()>& fold) {
  const int ranks = ctx.communicator->size(), here = ctx.communicator->rank();
  for (int r = 0; r < ranks; ++r) {
    if (r == here) fold();
    if (ranks == 1) return;
    std::vector<std::size_t> offsets(static_cast<std::size_t>(ranks) + 1);
    std::fill(offsets.begin() + r + 1, offsets.end(), state.size_bytes());
    expects(ctx.communicator->all_gather(std::as_writable_bytes(state).data(), offsets), one_after_the_other);
  }
}

bool any_rank(const Context& ctx, bool here) {
  const std::vector<char> all = of_ranks<char>(ctx, here ? 1 : 0);
  return std::any_of(all.begin(), all.end(), [](char one) { return one != 0; });
}

double max_of_ranks(const Context& ctx, double here) {
  const std::vector<double> all = of_ranks(ctx, here);
  return *std::max_element(all.begin(), all.end());
}

double min_of_ranks(const Context& ctx, double here) { return -max_of_ranks(ctx, -here); }

std::vector<std::vector<std::byte>> gather_bytes(const Context& ctx, std::span<const std::byte> mine) {
  const auto ranks = static_cast<std::size_t>(ctx.communicator->size()),
             here = static_cast<std::size_t>(ctx.communicator->rank());
  const auto gather = [&](std::byte* data, std::span<const std::size_t> offsets) {
    expects(ctx.communicator->all_gather(data, offsets), one_after_the_other);
  };
  std::vector<std::size_t> sizes(ranks), offsets(ranks + 1);
  sizes[here] = mine.size();
  for (std::size_t r = 0; r <= ranks; ++r) offsets[r] = r * sizeof(std::size_t);
  gather(reinterpret_cast<std::byte*>(sizes.data()), offsets);
  offsets[0] = 0;
  std::partial_sum(sizes.begin(), sizes.end(), offsets.begin() + 1);
  std::vector<std::byte> all(offsets.back());
  std::copy(mine.begin(), mine.end(), all.begin() + static_cast<std::ptrdiff_t>(offsets[here]));
  gather(all.data(), offsets);
  std::vector<std::vector<std::byte>> bytes(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    bytes[r].assign(all.begin() + static_cast<std::ptrdiff_t>(offsets[r]),
                    all.begin() + static_cast<std::ptrdiff_t>(offsets[r + 1]));
  return bytes;
}

std::vector<std::byte> gather_bytes_of_owners(const Context& ctx, std::span<const index_t> rows,
                                              std::span<const std::byte> mine, std::size_t size) {
  const auto ranks = static_cast<std::size_t>(ctx.communicator->size());
  std::vector<std::size_t> owners, offsets(ranks + 1);
  for (const index_t row : rows) {
    owners.push_back(static_cast<std::size_t>(ctx.slabs.slab_of(row)));
    offsets[owners.back() + 1] += size;
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::byte> by_rank(offsets.back()), all;
  std::copy(mine.begin(), mine.end(),
            by_rank.begin() + static_cast<std::ptrdiff_t>(offsets[static_cast<std::size_t>(ctx.communicator->rank())]));
  expects(ctx.communicator->all_gather(by_rank.data(), offsets), one_after_the_other);
  all.reserve(by_rank.size());
  for (const std::size_t owner : owners) {
    const auto next = by_rank.begin() + static_cast<std::ptrdiff_t>(offsets[owner]);
    all.insert(all.end(), next, next + static_cast<std::ptrdiff_t>(size));
    offsets[owner] += size;
  }
  return all;
}

}  // namespace ts::inline v0
