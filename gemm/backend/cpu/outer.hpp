// Tall times small: Y = alpha X S + beta Y, block of rows by block of rows.
#pragma once

#include "tallskinny/gemm/backend/cpu/panel.hpp"
#include "tallskinny/gemm/backend/cpu/rows.hpp"

namespace ts::cpu {

/// alpha S as the kernels want it: real, padded to whole vectors, for complex X twice as wide and high
/// ([Sr, Si; -Si, Sr], so that a row of X as it lies in memory gives a row of Y as it lies in memory), and
/// for narrow X and Y repeated across the lanes.
template <class T>
class SmallFactor {
 public:
  using R = real_t<T>;
  using E = stored_t<T>;

  /// `entry(i, j)` gives the p x q factor in result_t<T>; `conjugate_x` multiplies conj(X) instead of X.
  template <class Entry>
  SmallFactor(const Kernels& kernels, index_t p, index_t q, bool conjugate_x, const Entry& entry)
      : SmallFactor(kernels, p, q) {
    for (index_t i = 0; i < p; ++i)
      for (index_t j = 0; j < q; ++j) {
        if constexpr (is_complex<T>) {
          const auto s = entry(i, j);
          const R sign = conjugate_x ? R{-1} : R{1};
          put(2 * i, 2 * j, s.real()), put(2 * i, 2 * j + 1, s.imag());
          put(2 * i + 1, 2 * j, -sign * s.imag()), put(2 * i + 1, 2 * j + 1, sign * s.real());
        } else {
          put(i, j, entry(i, j));
        }
      }
  }

  [[nodiscard]] bool narrow() const noexcept { return narrow_; }
  /// Reals in a row of X and of Y.
  [[nodiscard]] index_t depth() const noexcept { return depth_; }
  [[nodiscard]] index_t width() const noexcept { return width_; }
  /// Rows worked on at a time, and columns of X (in reals).
  [[nodiscard]] index_t block_rows() const noexcept { return block_rows_; }
  [[nodiscard]] index_t block_depth() const noexcept { return block_depth_; }
  /// Reals that `out` of apply must have room for.
  [[nodiscard]] index_t buffer_size(index_t rows) const noexcept { return rows * width_ + Fold::max_lanes; }

  /// out = x S(first .. first+depth-1, :), or += for first > 0; rows of out lie without gaps. A narrow factor
  /// wants x without gaps and the whole depth.
  void apply(Panel<R> x, index_t rows, index_t first, index_t depth, R* out,
             const Ahead& ahead) const noexcept;
  /// The same for rows of X as stored without gaps: narrow factors only.
  void apply_stored(const E* x, index_t rows, R* out) const noexcept;

 private:
  SmallFactor(const Kernels& kernels, index_t p, index_t q);
  void put(index_t i, index_t j, R value) noexcept;

  const Kernels* kernels_;
  index_t depth_, width_, block_rows_ = 1, block_depth_ = 1;
  bool narrow_ = false, dots_ = false;  ///< dots: few columns, S is kept transposed
  Fold fold_;
  Split groups_;  ///< of the vectors in a row, one for each tile
  Matrix<R> s_;
};

/// Where results go: Y = out + beta Y in whatever layout Y has.
template <class C>
class Target {
 public:
  using R = real_t<C>;

  /// `fresh`: nothing else reads or writes this memory meanwhile, so large results may bypass the caches.
  Target(const Kernels& kernels, C beta, Strided<C> y, bool fresh);
  /// Rows i .. i+rows-1 from `out`, whose rows lie without gaps.
  void put(index_t i, index_t rows, const R* out) const noexcept;
  /// After the last put of a thread.
  void finish() const noexcept {
    if (streams_) kernels_->move.publish();
  }

 private:
  const Kernels* kernels_;
  C beta_;
  Strided<C> y_;
  bool streams_ = false;
};

/// Y = alpha X S + beta Y, row blocks shared among threads; Y may be the leading columns of X. Each row is
/// computed alone, so the bits do not depend on the number of threads.
template <class T>
void multiply(const Context& ctx, const Kernels& kernels, Strided<const T> x, const SmallFactor<T>& s,
              result_t<T> beta, Strided<result_t<T>> y);

#define TS_DECLARE(T)                                                                                       \
  extern template class SmallFactor<T>;                                                                     \
  extern template void multiply<T>(const Context&, const Kernels&, Strided<const T>, const SmallFactor<T>&, \
                                   result_t<T>, Strided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_DECLARE)
#undef TS_DECLARE
#define TS_DECLARE(T) extern template class Target<T>;
TS_FOR_EACH_RESULT_TYPE(TS_DECLARE)
#undef TS_DECLARE

}  // namespace ts::cpu
