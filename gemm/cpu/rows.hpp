// How the fast path shares rows among threads: chunks that the shape alone fixes, so that the bits of a
// result do not depend on how many threads there are.
#pragma once

#include <algorithm>

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0::cpu {

/// Rows 0 .. rows-1 in `count` chunks of `size` rows (the last may be shorter), worked on `block` rows at a
/// time. Where a sum over them has several parts, each part of `part_rows` rows has chunks of its own.
struct Chunks {
  index_t rows = 0, block = 1, size = 1, count = 0;
  index_t part_rows = 0, per_part = 0;

  /// At most `most` chunks, each a whole number of blocks and at least `fewest_rows` rows.
  Chunks(index_t all_rows, index_t block_rows, index_t most, index_t fewest_rows = 1)
      : rows(all_rows), block(block_rows) {
    const index_t wanted = std::max((rows + most - 1) / most, fewest_rows);
    size = (wanted + block - 1) / block * block;
    per_part = count = (rows + size - 1) / size;
    part_rows = rows;
  }
  /// The same of every part. How a part is cut does not depend on how many of them are here.
  Chunks(const RowParts& parts, index_t block_rows, index_t most, index_t fewest_rows)
      : Chunks(parts.part_rows, block_rows, parts.units ? (most + parts.count - 1) / parts.count : most, fewest_rows) {
    per_part = std::max<index_t>(1, per_part);
    count = parts.here * per_part;
    rows = parts.rows;
  }
  [[nodiscard]] index_t begin(index_t c) const noexcept {
    return std::min(rows, c / per_part * part_rows + c % per_part * size);
  }
  [[nodiscard]] index_t end(index_t c) const noexcept {
    return std::min({rows, (c / per_part + 1) * part_rows, c / per_part * part_rows + (c % per_part + 1) * size});
  }
};

/// Chunks of an operation whose rows are computed alone: enough to keep threads evenly busy.
inline constexpr index_t most_row_chunks = 1024;

/// Whether a result of so many bytes is written past the caches. `fresh`: contiguous and nothing else reads
/// or writes it meanwhile. Ordinary stores read a line before they write it; results that would not stay in
/// cache save that pass.
[[nodiscard]] constexpr bool streams(index_t bytes, bool fresh) noexcept {
  constexpr index_t large = 8 << 20;
  return fresh && bytes >= large;
}

/// Threads worth waking for this many bytes: a parallel region costs some microseconds.
[[nodiscard]] inline int threads_for(const Context& ctx, index_t bytes) noexcept {
  constexpr index_t bytes_per_thread = 64 << 10;
  return static_cast<int>(std::clamp<index_t>(bytes / bytes_per_thread, 1, ctx.thread_count()));
}

/// Private memory of each thread, in cache lines of its own.
template <class R>
class Scratch {
 public:
  Scratch(int threads, index_t count)
      : stride_((count * static_cast<index_t>(sizeof(R)) + 127) / 64 * 64 / static_cast<index_t>(sizeof(R))),
        memory_(threads, stride_) {}
  [[nodiscard]] R* of(int thread) noexcept { return memory_.data() + thread * stride_; }

 private:
  index_t stride_;
  Matrix<R> memory_;
};

}  // namespace ts::inline v0::cpu
