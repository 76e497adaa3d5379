// What ranks put together beside sums over rows: sums in the order of ranks, lists, decisions.
#pragma once

#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

/// Calls fold() rank after rank. Each goes on with the state that the rank before left, rank 0 with its own; all end
/// with that of the last one. So a sum over rows has the order, and the bits, of one rank.
void in_turn(const Context& ctx, std::span<double> state, const std::function<void()>& fold);

/// Whether it holds on any rank.
[[nodiscard]] bool any_rank(const Context& ctx, bool here);
[[nodiscard]] double max_of_ranks(const Context& ctx, double here);
[[nodiscard]] double min_of_ranks(const Context& ctx, double here);

/// bytes[r]: those of rank r.
[[nodiscard]] std::vector<std::vector<std::byte>> gather_bytes(const Context& ctx, std::span<const std::byte> mine);

/// The lists of all ranks, in the order of ranks.
template <class T>
[[nodiscard]] std::vector<T> gather_lists(const Context& ctx, std::span<const T> mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (ctx.communicator->size() == 1) return {mine.begin(), mine.end()};
  std::vector<T> all;
  for (const std::vector<std::byte>& bytes : gather_bytes(ctx, std::as_bytes(mine))) {
    const std::size_t begin = all.size();
    all.resize(begin + bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(all.data() + begin, bytes.data(), bytes.size());
  }
  return all;
}

/// `size` bytes for each of these rows, in their order. mine: those of rows in this rank's slab, likewise.
[[nodiscard]] std::vector<std::byte> gather_bytes_of_owners(const Context& ctx, std::span<const index_t> rows,
                                                            std::span<const std::byte> mine, std::size_t size);

/// `width` values for each of these rows, in their order. mine: those of rows in this rank's slab, likewise.
template <class T>
[[nodiscard]] std::vector<T> gather_from_owners(const Context& ctx, std::span<const index_t> rows, std::vector<T> mine,
                                                index_t width = 1) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (ctx.communicator->size() == 1) return mine;
  const std::size_t size = static_cast<std::size_t>(width) * sizeof(T);
  const std::vector<std::byte> bytes = gather_bytes_of_owners(ctx, rows, std::as_bytes(std::span(mine)), size);
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace ts::inline v0
