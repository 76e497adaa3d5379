// How the rows of tall operands are distributed over ranks.
#pragma once

#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

/// At level gpu_to_gpu the rows of a tall matrix are cut into at most so many units, by their number alone.
/// Sums over rows are sums over units, in their order, whoever computes them.
inline constexpr index_t most_row_units = 24;
/// Rows of every unit but the last: a multiple of 256, so that all units begin aligned as the first one.
[[nodiscard]] constexpr index_t row_unit(index_t rows) noexcept {
  const index_t least = (rows + most_row_units - 1) / most_row_units;
  return least <= 256 ? 256 : (least + 255) / 256 * 256;
}

/// Consecutive slabs of rows, one for each rank; slabs may be empty.
class RowSlabs {
 public:
  RowSlabs() = default;  ///< nothing is said
  /// Slab r has rows begins[r] .. begins[r + 1] - 1.
  /// @throws Error(invalid_argument) unless begins starts with 0 and does not decrease.
  explicit RowSlabs(std::vector<index_t> begins);
  /// `rows` rows in `slabs` slabs of whole units, as equal as these allow: what level gpu_to_gpu asks for.
  [[nodiscard]] static RowSlabs of_units(index_t rows, int slabs);
  /// `rows` rows in `slabs` slabs of whole pieces of `piece` rows, but for the last one, as equal as these allow.
  [[nodiscard]] static RowSlabs of_pieces(index_t rows, int slabs, index_t piece);

  [[nodiscard]] bool empty() const noexcept { return begins_.empty(); }
  [[nodiscard]] int slabs() const noexcept { return static_cast<int>(begins_.size()) - 1; }
  [[nodiscard]] index_t rows() const noexcept { return begins_.back(); }
  [[nodiscard]] index_t begin(int slab) const noexcept { return begins_[static_cast<std::size_t>(slab)]; }
  [[nodiscard]] index_t rows(int slab) const noexcept { return begin(slab + 1) - begin(slab); }
  /// The slab that has this row, which must be one of them.
  [[nodiscard]] int slab_of(index_t row) const noexcept;

 private:
  std::vector<index_t> begins_;
};

}  // namespace ts::inline v0
