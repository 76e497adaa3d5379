// The operands of one measured case, plain pointers that ours and every peer can use.
#pragma once

#include <span>

#include "tallskinny/app/tsbench/sparse_pattern.hpp"
#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/core/problem.hpp"

namespace ts::bench {

/// Row-major, contiguous. Which operand means what follows Problem: x and y are the tall inputs (n x p, n x
/// q), out the tall result, small the small factor, result and gram what reductions give.
template <class T>
struct Operands {
  using R = result_t<T>;
  Problem problem;
  const T* x = nullptr;
  const T* y = nullptr;
  R* out = nullptr;
  const R* small = nullptr;
  R* result = nullptr;
  R* gram = nullptr;
  CsrView<T> sparse;
};

/// Memory for all cases of one type: allocated and filled once.
template <class T>
class Pool {
 public:
  using R = result_t<T>;
  /// Room for `bytes` in each tall operand and for widths up to `width`.
  Pool(std::int64_t bytes, index_t width);
  /// The operands of `problem`, whose tall ones take no more than the room there is. The result is filled
  /// afresh where the operation changes it in place.
  Operands<T> operands(const Problem& problem);
  /// out as operands() filled it, for operations in place.
  void refill(const Operands<T>& o);

  [[nodiscard]] std::span<const double> roof_source() const;
  [[nodiscard]] std::span<double> roof_target();

 private:
  void build_sparse(index_t rows);
  std::int64_t bytes_;
  Matrix<T> x_, y_;
  Matrix<R> out_, small_, result_, gram_;
  CsrMatrix<T> sparse_;
};

/// What becomes of the operands: some are changed in place, some results are tall.
[[nodiscard]] bool in_place(Operation op) noexcept;
[[nodiscard]] bool tall_result(Operation op) noexcept;
/// Columns of the tall result.
[[nodiscard]] index_t out_width(const Problem& problem) noexcept;

/// Where the tall operands' values begin: x(i, j) is value_at(first_key.x + i * columns + j).
inline constexpr struct {
  std::uint64_t x = 0, y = std::uint64_t{1} << 40, out = std::uint64_t{1} << 41;
} first_key;

/// The small factor of `problem`. For operations in place it is nearly the identity and upper triangular:
/// they can be repeated at will without growth.
template <class R>
void fill_small(Matrix<R>& m, const Problem& problem);

/// The problem with about `bytes` of minimum traffic.
[[nodiscard]] Problem problem_of(Operation op, DType type, index_t p, index_t q, std::int64_t bytes,
                                 Pattern pattern = Pattern::stencil);

}  // namespace ts::bench
