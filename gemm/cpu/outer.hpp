// Tall times small: Y = alpha X S + beta Y, block of rows by block of rows.
#pragma once

#include "tallskinny/gemm/cpu/panel.hpp"
#include "tallskinny/gemm/cpu/rows.hpp"

namespace ts::inline v0::cpu {

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
  /// Whether apply() can add to rows where they lie, or stream them.
  [[nodiscard]] bool adds() const noexcept { return !narrow_ && !dots_; }
  /// Rows whose results apply() can stream as whole vectors; 0: it cannot.
  [[nodiscard]] index_t rows_in_stores() const noexcept {
    if (narrow_) return fold_.fold * width_ == kernels_->real<R>().lanes ? fold_.fold : 0;
    return adds() && block_depth_ == depth_ ? 1 : 0;
  }
  /// Whether S is kept transposed and rows of X meet it by inner products.
  [[nodiscard]] bool by_dots() const noexcept { return dots_; }
  /// Reals in a row of X and of Y.
  [[nodiscard]] index_t depth() const noexcept { return depth_; }
  [[nodiscard]] index_t width() const noexcept { return width_; }
  /// Rows worked on at a time, and columns of X (in reals).
  [[nodiscard]] index_t block_rows() const noexcept { return block_rows_; }
  [[nodiscard]] index_t block_depth() const noexcept { return block_depth_; }
  /// Reals that `out` of apply must have room for.
  [[nodiscard]] index_t buffer_size(index_t rows) const noexcept { return rows * width_ + Fold::max_lanes; }

  /// out = x S(first .. first+depth-1, :) for rows of x, or what `write` says. A narrow factor wants x and
  /// out without gaps, the whole depth and no Write::add.
  void apply(Panel<R> x, index_t rows, index_t first, index_t depth, Write write, R* out, index_t ld_out,
             const Ahead& ahead) const noexcept;
  /// The same for rows of X as stored without gaps: narrow factors only.
  void apply_stored(const E* x, index_t rows, Write write, R* out) const noexcept;

 private:
  SmallFactor(const Kernels& kernels, index_t p, index_t q);
  void put(index_t i, index_t j, R value) noexcept;

  const Kernels* kernels_;
  index_t depth_, width_, block_rows_ = 1, block_depth_ = 1;
  bool narrow_ = false, dots_ = false;  ///< dots: S is kept transposed
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
  /// Whether results of `unit` rows at a time may be streamed to Y as they are computed, without a buffer of
  /// whole cache lines between.
  [[nodiscard]] bool direct(index_t unit) const noexcept {
    constexpr index_t line = 64;
    return streams_ && unit > 0 && unit * y_.cols * static_cast<index_t>(sizeof(C)) % line == 0 &&
           reinterpret_cast<std::uintptr_t>(y_.data) % line == 0;
  }
  /// Where row i of a direct() target begins.
  [[nodiscard]] R* rows_from(index_t i) const noexcept { return reinterpret_cast<R*>(y_.data + i * y_.row_stride); }
  /// After the last put of a thread.
  void finish() const noexcept {
    if (streams_) kernels_->publish();
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
void multiply(const Context& ctx, const Kernels& kernels, Strided<const T> x, const SmallFactor<T>& s, result_t<T> beta,
              Strided<result_t<T>> y);

#define TS_DECLARE(T)                                                                                       \
  extern template class SmallFactor<T>;                                                                     \
  extern template void multiply<T>(const Context&, const Kernels&, Strided<const T>, const SmallFactor<T>&, \
                                   result_t<T>, Strided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_DECLARE)
#undef TS_DECLARE
#define TS_DECLARE(T) extern template class Target<T>;
TS_FOR_EACH_RESULT_TYPE(TS_DECLARE)
#undef TS_DECLARE

}  // namespace ts::inline v0::cpu
