// Operands that bite: views of any layout, leading dimension and alignment in the middle of memory full of
// NaN. What reads beside the view poisons its result; what writes beside it is caught.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::test {

/// An element of type T with these parts; a real one takes the first.
template <class T>
T element(double re, double im) {
  if constexpr (is_complex<T>)
    return narrowed<T>({re, im});
  else
    return narrowed<T>(re);
}

enum class Shape { row_major, row_major_gaps, col_major, col_major_gaps };
inline constexpr Shape all_shapes[] = {Shape::row_major, Shape::row_major_gaps, Shape::col_major,
                                       Shape::col_major_gaps};

template <class T>
class Operand {
 public:
  Operand(index_t rows, index_t cols, Shape shape, std::mt19937& random) {
    const bool row_major = shape == Shape::row_major || shape == Shape::row_major_gaps;
    const bool gaps = shape == Shape::row_major_gaps || shape == Shape::col_major_gaps;
    const index_t line = (row_major ? cols : rows) + (gaps ? 3 : 0), lines = row_major ? rows : cols;
    const T poison = element<T>(NAN, NAN);
    memory_.assign(static_cast<std::size_t>(moat + line * lines + moat), poison);
    view_.data = memory_.data() + moat, view_.rows = rows, view_.cols = cols;
    view_.row_stride = row_major ? line : 1, view_.col_stride = row_major ? 1 : line;
    const auto number = [&random] { return static_cast<double>(random()) * 0x1p-31 - 1; };
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < cols; ++j) {
        const double re = number();
        view_(i, j) = element<T>(re, number());
      }
  }

  [[nodiscard]] Strided<T> view() const { return view_; }
  [[nodiscard]] Strided<const T> cview() const { return view_; }

  /// Whether everything beside the view is still NaN.
  [[nodiscard]] bool untouched_beside() const {
    auto copy = memory_;
    Strided<T> v = view_;
    v.data = copy.data() + moat;
    for (index_t i = 0; i < v.rows; ++i)
      for (index_t j = 0; j < v.cols; ++j) v(i, j) = element<T>(NAN, NAN);
    for (const T& x : copy)
      if (!std::isnan(std::real(to_wide(x)))) return false;
    return true;
  }

 private:
  static constexpr index_t moat = 37;  // odd: no alignment beyond the element's own
  std::vector<T> memory_;
  Strided<T> view_;
};

/// A copy of a strided matrix in the type of truth, row-major.
template <class T>
std::vector<wide_t<std::remove_const_t<T>>> widened(const Strided<T>& v) {
  std::vector<wide_t<std::remove_const_t<T>>> w;
  w.reserve(static_cast<std::size_t>(v.rows * v.cols));
  for (index_t i = 0; i < v.rows; ++i)
    for (index_t j = 0; j < v.cols; ++j) w.push_back(to_wide(v(i, j)));
  return w;
}

/// The instruction sets that this processor has.
inline std::vector<Simd> available_simd() {
  std::vector<Simd> all = {Simd::sse2};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(Simd::avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    all.push_back(Simd::avx512);
#endif
  return all;
}

}  // namespace ts::test
