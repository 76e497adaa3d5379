// How the row kernels cut their work; the planner asks the same functions.
#pragma once

#include "tallskinny/gemm/cpu/inner.hpp"
#include "tallskinny/gemm/cpu/row_kernels.hpp"

namespace ts::inline v0::cpu {

/// inner_and_gram and project_out: blocks of rows that stay in the second-level cache from the update to the
/// products.
[[nodiscard]] constexpr index_t pass_block(index_t row_bytes) noexcept {
  constexpr index_t cache_bytes = 256 << 10;
  return std::clamp<index_t>(cache_bytes / row_bytes / 64 * 64, 64, 4096);
}

/// trsm: rows of a row-major X are solved where they lie, in blocks that stay in the first-level cache while
/// its columns are taken a vector at a time.
[[nodiscard]] inline Chunks solve_chunks(index_t rows, bool in_place, index_t row_bytes) noexcept {
  constexpr index_t cache_bytes = 16 << 10;
  const index_t block = std::clamp<index_t>(cache_bytes / std::max<index_t>(row_bytes, 1) / 16 * 16, 16, 1024);
  return {rows, in_place ? block : panel_rows, most_row_chunks};
}

/// column_norms: a narrow contiguous matrix is read as one of so many times its width, so that vectors are
/// full.
[[nodiscard]] constexpr index_t squares_fold(bool contiguous, index_t width) noexcept {
  constexpr index_t full = 64;  // reals: whole vectors of every set of instructions
  return contiguous && width < full ? full / width : 1;
}
[[nodiscard]] inline Chunks squares_chunks(const RowParts& parts, index_t row_bytes, index_t width,
                                           index_t fold) noexcept {
  constexpr index_t block_bytes = 32 << 10;
  const index_t block = std::max<index_t>(1, block_bytes / std::max<index_t>(1, row_bytes) / fold) * fold;
  return chunks_for(parts, block, std::max<index_t>(1, width), width * fold);
}

/// spmm: pieces of about the same number of entries and rows.
[[nodiscard]] constexpr index_t sparse_chunks(index_t entries, index_t rows, int threads) noexcept {
  constexpr index_t worth_a_chunk = 8192;
  return std::clamp<index_t>((entries + rows) / worth_a_chunk, 1, index_t{64} * threads);
}

}  // namespace ts::inline v0::cpu
