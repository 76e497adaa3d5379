// Views of spans: std::span, and whatever is shaped like std::mdspan with two dimensions.
#pragma once

#include <concepts>
#include <span>

#include "tallskinny/gemm/core/view.hpp"

namespace ts::inline v0 {

/// std::mdspan (C++23), its reference implementation, Kokkos' views by their mdspan, and alike.
template <class S>
concept MdspanLike = requires(const S& s) {
  { s.extent(0) } -> std::convertible_to<index_t>;
  { s.stride(0) } -> std::convertible_to<index_t>;
  { *s.data_handle() } -> std::convertible_to<typename S::value_type>;
  requires S::rank()
  == 2;
};

/// The elements of a span of two dimensions in this layout, where they are.
/// @throws Error(invalid_argument) for strides of another layout than asked for.
template <Layout L = Layout::row_major, MdspanLike S>
[[nodiscard]] auto view_of(const S& s) {
  using T = std::remove_pointer_t<decltype(s.data_handle())>;
  const auto rows = static_cast<index_t>(s.extent(0)), cols = static_cast<index_t>(s.extent(1));
  const auto down = static_cast<index_t>(s.stride(0)), right = static_cast<index_t>(s.stride(1));
  constexpr bool by_rows = L == Layout::row_major;
  const index_t inner = by_rows ? cols : rows, outer = by_rows ? rows : cols;
  expects(inner <= 1 || (by_rows ? right : down) == 1, "a span has strides of another layout than asked for");
  return HostView<T, L>(s.data_handle(), rows, cols, outer <= 1 ? inner : (by_rows ? down : right));
}

/// rows x cols elements of a span, row by row. @throws Error(invalid_argument) where it has another number of them.
template <class T>
[[nodiscard]] HostView<T> view_of(std::span<T> s, index_t rows, index_t cols) {
  expects(static_cast<index_t>(s.size()) == rows * cols, "a span has other than rows x cols elements");
  return HostView<T>(s.data(), rows, cols);
}

}  // namespace ts::inline v0
