// The vector kernels of the operations that are no dense products: sparse products, sums of squares and
// substitution. Tables as in kernels.hpp, from one source (sparse.hpp, squares.hpp, substitution.hpp)
// compiled once for each set of instructions.
#pragma once

#include <tuple>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/cpu/kernels.hpp"

namespace ts::inline v0::cpu {

/// Rows of a sparse matrix times a row-major block of q columns.
template <class T, class I>
struct SparseKernels {
  using C = result_t<T>;
  using Matrix = CsrView<T, Space::host, I>;
  /// out(i - begin, :) = sum_e a(i, j_e) x(j_e, :) in stored order, for rows begin <= i < end; rows of out
  /// lie without gaps. X is row-major.
  void (*gather)(const Matrix& a, index_t begin, index_t end, const Strided<const T>& x, C* out);
  /// y(j, :) += alpha op(a(i, j)) x(i, :) for every row i in order and the columns first <= j < end of A. X and
  /// Y are row-major.
  struct Scatter {
    Matrix a;
    index_t first, end;
    bool conjugate;
    C alpha;
    Strided<const T> x;
    Strided<C> y;
  };
  void (*scatter)(const Scatter&);
  /// y(i, :) = alpha (A x - shift x)(i, :) + beta y(i, :) for rows begin <= i < end of a square A, where beta = 0 never
  /// reads Y. X and Y are row-major. Null for 16-bit types.
  struct Step {
    Matrix a;
    real_t<C> alpha, shift, beta;
    Strided<const T> x;
    Strided<C> y;
  };
  void (*step)(const Step&, index_t begin, index_t end);
};

/// sums[j] += sum_i x(i, j)^2 for `width` real columns, in float64.
template <class E>
struct SquareKernels {
  void (*add)(const E* x, index_t ld, index_t rows, index_t width, double* sums);
};

/// Substitution in a transposed panel of `panel_rows` rows: element (r, j) at x[j * panel_rows + r], for
/// complex numbers the imaginary parts behind all real ones. x_j = (x_j - sum_{k < j} x_k r(k, j))
/// inverse[j], with r(k, j) at r[j * p + k].
inline constexpr index_t panel_rows = 64;

/// Substitution in rows as they lie in memory, at most one vector wide: `fold` whole rows in a vector where
/// rows follow each other without gaps, else one. For complex numbers all lanes are reals and `turned` holds
/// i times what stands in `tile`.
template <class R>
struct NarrowFactor {
  static constexpr int most = 16;  ///< lanes of the widest vector, and columns
  index_t p = 0, fold = 1;         ///< columns, and rows in a vector
  index_t step = 0;                ///< reals in these rows
  index_t stride = 0;              ///< reals from one vector to the next
  std::int32_t real_lane[most][most] = {}, imaginary_lane[most][most] = {};  ///< [k][lane]: x_k of the lane's row
  std::int32_t behind[most][most] = {};                                      ///< [k][lane]: -1 in columns j > k
  R tile[most][most] = {}, turned[most][most] = {};                          ///< [k][lane]: -r(k, j)
  R inverse[most][2] = {};                                                   ///< [k]: real and imaginary part
  R scale[most] = {}, scale_turned[most] = {};                               ///< [lane]: inverse[j]
  std::int32_t own_real[most] = {}, own_imaginary[most] = {};                ///< [lane]: the parts of its own number
};

template <class C>
struct SubstitutionKernels {
  index_t lanes;  ///< of a vector that `narrow` works on; 0: there is no such kernel
  void (*solve)(real_t<C>* x, index_t p, const C* r, const C* inverse);
  /// `readable`: reals from x on that there are; what is not of these rows is read, never written.
  void (*narrow)(real_t<C>* x, index_t rows, index_t readable, const NarrowFactor<real_t<C>>& factor);
};

struct RowKernels {
  template <class T>
  using Sparse32 = SparseKernels<T, std::int32_t>;
  template <class T>
  using Sparse64 = SparseKernels<T, std::int64_t>;
  decltype(std::tuple_cat(ElementTypes::tuple_of<Sparse32>(), ElementTypes::tuple_of<Sparse64>())) sparse;
  RealTypes::tuple_of<SquareKernels> squares;
  ResultTypes::tuple_of<SubstitutionKernels> substitution;
};

/// @throws Error(invalid_argument) if this processor or this build does not have them.
[[nodiscard]] const RowKernels& row_kernels(Simd simd);

namespace base {
extern const RowKernels row_table;
}
namespace avx2 {
extern const RowKernels row_table;
}
namespace avx512 {
extern const RowKernels row_table;
}

}  // namespace ts::inline v0::cpu
