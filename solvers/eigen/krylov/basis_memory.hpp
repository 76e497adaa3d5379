// The memory of a basis: where its operator is at home, or in page-locked host memory where it does not fit
// there.
#pragma once

#include "tallskinny/gemm/runtime/locked_matrix.hpp"
#include "tallskinny/gemm/runtime/placed.hpp"

namespace ts::inline v0::solvers {

/// The leading dimension of a basis: whole cache lines, and on the host an odd number of them so that rows do
/// not share cache sets.
[[nodiscard]] constexpr index_t padded_columns(Space space, index_t columns, std::size_t element_bytes) noexcept {
  const index_t line = (space == Space::host ? 64 : 128) / static_cast<index_t>(element_bytes);
  index_t lines = (columns + line - 1) / line;
  if (space == Space::host && lines % 2 == 0) ++lines;
  return lines * line;
}

/// Up to whole blocks of the default width.
[[nodiscard]] constexpr index_t whole_blocks(index_t columns) noexcept { return (columns + 7) / 8 * 8; }

/// Memory of so many rows and columns, row-major with padded columns, not initialised, move-only.
template <class T>
class BasisMemory {
 public:
  /// @param spills page-locked host memory, which the device of ctx.stream reads and writes directly.
  /// @throws Error(out_of_memory).
  BasisMemory(const Context& ctx, Space space, index_t rows, index_t columns, bool spills) {
    const index_t ld = padded_columns(spills ? Space::host : space, columns, sizeof(T));
    if (spills)
      locked_ = LockedMatrix<T>(ctx, rows, ld), view_ = locked_.view();
    else
      whole_ = PlacedMatrix<T>(ctx, space, rows, ld), view_ = whole_.view();
  }

  [[nodiscard]] Space space() const noexcept { return view_.space(); }
  /// Columns, with those that fill the last lines.
  [[nodiscard]] index_t width() const noexcept { return view_.cols(); }
  [[nodiscard]] PlacedView<T> columns(index_t first, index_t count) { return view_.cols(first, count); }
  [[nodiscard]] PlacedView<const T> columns(index_t first, index_t count) const {
    return PlacedView<const T>(view_).cols(first, count);
  }

 private:
  PlacedMatrix<T> whole_;
  LockedMatrix<T> locked_;  ///< one of the two is empty
  PlacedView<T> view_;
};

}  // namespace ts::inline v0::solvers
