// Views of Eigen's matrices, and Eigen's maps of views; nothing is copied. Needs Eigen's headers where it is included.
#pragma once

#if __has_include(<Eigen/SparseCore>)

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"

namespace ts::inline v0 {

/// A Matrix, Map, Ref or block of one, in its own order of elements.
/// @throws Error(invalid_argument) where neighbours have a gap between them (InnerStride).
template <class Derived>
[[nodiscard]] auto view_of(Eigen::PlainObjectBase<Derived>& m) {
  constexpr Layout layout = Derived::IsRowMajor ? Layout::row_major : Layout::col_major;
  return HostView<typename Derived::Scalar, layout>(
      m.data(), m.rows(), m.cols(), std::max<index_t>(m.outerStride(), Derived::IsRowMajor ? m.cols() : m.rows()));
}
template <class Derived>
[[nodiscard]] auto view_of(const Eigen::PlainObjectBase<Derived>& m) {
  constexpr Layout layout = Derived::IsRowMajor ? Layout::row_major : Layout::col_major;
  return HostView<const typename Derived::Scalar, layout>(
      m.data(), m.rows(), m.cols(), std::max<index_t>(m.outerStride(), Derived::IsRowMajor ? m.cols() : m.rows()));
}
/// A temporary would be gone before its view is used.
template <class Derived>
void view_of(const Eigen::PlainObjectBase<Derived>&&) = delete;
template <class Derived>
[[nodiscard]] auto view_of(const Eigen::MapBase<Derived, Eigen::ReadOnlyAccessors>& m) {
  constexpr bool writable = (Eigen::internal::traits<Derived>::Flags & Eigen::LvalueBit) != 0;
  using Scalar = std::conditional_t<writable, typename Derived::Scalar, const typename Derived::Scalar>;
  expects(m.innerStride() == 1, "an Eigen::Map, Ref or block with gaps between neighbours is no matrix view");
  constexpr Layout layout = Derived::IsRowMajor ? Layout::row_major : Layout::col_major;
  return HostView<Scalar, layout>(const_cast<Scalar*>(m.derived().data()), m.rows(), m.cols(),
                                  std::max<index_t>(m.outerStride(), Derived::IsRowMajor ? m.cols() : m.rows()));
}

/// A view as Eigen sees it, writable where the view is.
template <class T, Layout L>
[[nodiscard]] auto as_eigen(const MatrixView<T, Space::host, L>& v) {
  using Plain = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic,
                              L == Layout::row_major ? Eigen::RowMajor : Eigen::ColMajor>;
  using Shown = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return Eigen::Map<Shown, Eigen::Unaligned, Eigen::OuterStride<>>(v.data(), v.rows(), v.cols(),
                                                                   Eigen::OuterStride<>(v.ld()));
}

/// A row-major sparse matrix with 64-bit numbers, as SparseMatrix<T, RowMajor, std::int64_t>, which is compressed.
/// @throws Error(invalid_argument) where it is not: call makeCompressed().
template <class T>
[[nodiscard]] CsrView<T, Space::host, std::int64_t> view_of(
    const Eigen::SparseMatrix<T, Eigen::RowMajor, std::int64_t>& m) {
  expects(m.isCompressed(), "a sparse matrix of Eigen has gaps: call makeCompressed() first");
  return {m.rows(), m.cols(), m.outerIndexPtr(), m.innerIndexPtr(), m.valuePtr()};
}

/// A row-major sparse matrix with 32-bit numbers: its row pointers are widened into `pointers`, which must outlive the
/// view; columns and values are not copied.
template <class T>
[[nodiscard]] CsrView<T> view_of(const Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>& m,
                                 std::vector<index_t>& pointers) {
  expects(m.isCompressed(), "a sparse matrix of Eigen has gaps: call makeCompressed() first");
  pointers.assign(m.outerIndexPtr(), m.outerIndexPtr() + m.rows() + 1);
  return {m.rows(), m.cols(), pointers.data(), m.innerIndexPtr(), m.valuePtr()};
}

}  // namespace ts::inline v0

#endif
