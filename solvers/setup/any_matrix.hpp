// A matrix in memory, sparse or dense: an owner, or a view of somebody else's.
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::inline v0::solvers {

/// T: double or std::complex<double>.
template <class T>
using AnyMatrix = std::variant<CsrMatrix<T>, Matrix<T>>;

/// All numbers that an AnyMatrix stores, row by row; const where it is.
template <class Any>
[[nodiscard]] auto entries_of(Any& matrix) {
  return std::visit(
      [](auto& a) {
        if constexpr (requires { a.values; })
          return std::span(a.values.data(), a.values.size());
        else
          return std::span(a.data(), static_cast<std::size_t>(a.rows() * a.cols()));
      },
      matrix);
}

/// A matrix in somebody else's memory. An AnyMatrix serves where a view is asked for, and must outlive it.
template <class T>
class AnyView : public std::variant<CsrView<T>, HostView<const T>> {
 public:
  AnyView(const CsrView<T>& sparse) : AnyView::variant(sparse) {}
  AnyView(const HostView<const T>& dense) : AnyView::variant(dense) {}
  AnyView(const CsrMatrix<T>& sparse) : AnyView(sparse.view()) {}
  AnyView(const Matrix<T>& dense) : AnyView(dense.view()) {}
  AnyView(const AnyMatrix<T>& matrix) : AnyView(std::visit([](const auto& a) { return AnyView(a.view()); }, matrix)) {}

  /// Null where the matrix is dense.
  [[nodiscard]] const CsrView<T>* sparse() const noexcept { return std::get_if<0>(this); }
  /// Where it is dense.
  [[nodiscard]] const HostView<const T>& dense() const { return std::get<1>(*this); }
  [[nodiscard]] index_t rows() const noexcept { return sparse() != nullptr ? sparse()->rows : dense().rows(); }
  [[nodiscard]] index_t cols() const noexcept { return sparse() != nullptr ? sparse()->cols : dense().cols(); }
};

/// A view of a matrix, where there is one.
template <class T>
[[nodiscard]] std::optional<CsrView<T>> view_of(const std::optional<CsrMatrix<T>>& matrix) {
  return matrix ? std::optional(matrix->view()) : std::nullopt;
}

/// A copy that owns its memory.
template <class T>
[[nodiscard]] AnyMatrix<T> owned(const AnyView<T>& a) {
  const CsrView<T>* s = a.sparse();
  if (s == nullptr) return Matrix<T>::copy_of(a.dense());
  const auto stored = s->nonzeros();
  return CsrMatrix<T>{s->rows,
                      s->cols,
                      {s->pointers, s->pointers + s->rows + 1},
                      {s->indices, s->indices + stored},
                      {s->values, s->values + stored}};
}

}  // namespace ts::inline v0::solvers
