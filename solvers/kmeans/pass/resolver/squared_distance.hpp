// Squared distances by direct differences, as all of the room and its kernels add them.
#pragma once

#include "tallskinny/gemm/core/twofold.hpp"
#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::assign_detail {

/// sum_j ((x_j - c_j) factor)^2 in eight partial sums; Sum: double or long double.
template <class Sum>
[[nodiscard]] Sum squared_distance(const double* x, const double* c, index_t d, double factor = 1) noexcept {
  Sum part[8] = {};
  index_t j = 0;
  for (; j + 8 <= d; j += 8)
    for (index_t q = 0; q < 8; ++q) {
      const Sum difference = (static_cast<Sum>(x[j + q]) - static_cast<Sum>(c[j + q])) * static_cast<Sum>(factor);
      part[q] += difference * difference;
    }
  for (; j < d; ++j) {
    const Sum difference = (static_cast<Sum>(x[j]) - static_cast<Sum>(c[j])) * static_cast<Sum>(factor);
    part[j % 8] += difference * difference;
  }
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/// ||x factor - c||^2 to about 100 bits.
[[nodiscard]] inline Twofold twofold_squared_distance(const double* x, const double* c, index_t d,
                                                      double factor) noexcept {
  Twofold sum;
  for (index_t j = 0; j < d; ++j) {
    Twofold difference = Twofold::sum_of(x[j], -c[j]);
    difference.hi *= factor, difference.lo *= factor;
    sum = sum + difference * difference;
  }
  return sum;
}
/// Distances that differ by less than this share of themselves count as equal, since the rounding of the sums above may
/// make them differ.
[[nodiscard]] constexpr double twofold_tie(index_t d) noexcept { return static_cast<double>(d + 3) * 0x1p-100; }

/// ||c||^2, columns in ascending order.
template <class Sum>
[[nodiscard]] Sum squared_norm(const double* c, index_t d) noexcept {
  Sum sum = 0;
  for (index_t j = 0; j < d; ++j) sum += static_cast<Sum>(c[j]) * static_cast<Sum>(c[j]);
  return sum;
}
/// ||x - c||^2 for a sparse x: sum over its entries of (x_j - c_j)^2, and what they leave of ||c||^2. Exactly
/// 0 for x = c.
template <class Sum>
[[nodiscard]] Sum sparse_squared_distance(const double* x, const std::int32_t* columns, index_t entries,
                                          const double* c, Sum squared_norm_of_c) noexcept {
  Sum near = 0, covered = 0;
  for (index_t p = 0; p < entries; ++p) {
    const Sum cj = static_cast<Sum>(c[columns[p]]), difference = static_cast<Sum>(x[p]) - cj;
    near += difference * difference;
    covered += cj * cj;
  }
  return near + (squared_norm_of_c > covered ? squared_norm_of_c - covered : Sum{0});
}

}  // namespace ts::inline v0::assign_detail
