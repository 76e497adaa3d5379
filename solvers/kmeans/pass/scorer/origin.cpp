#include "tallskinny/solvers/kmeans/pass/scorer/origin.hpp"

#include <algorithm>

namespace ts::inline v0::assign_device {

/// x - shift in float32 loses nothing that the bound on scores does not know of, and cannot overflow.
bool needs_wide(const ColumnMoments& moments, DType type, double scale) {
  if (type == DType::float64 || !(scale >= 0x1p-100 && scale <= 0x1p100)) return true;
  for (std::size_t j = 0; j < moments.shift.size(); ++j) {
    const double shift = moments.shift[j], scaled = shift * scale;
    if (static_cast<double>(static_cast<float>(scaled)) != scaled ||
        (std::abs(shift) + moments.reach[j]) * scale > 0x1p100)
      return true;
  }
  return false;
}

/// Whether products of rows with float16 numbers need neither shift nor scale: columns are near their origin,
/// as float16 numbers go, and squares of a few elements have room in float16.
bool as_they_are(const ColumnMoments& moments, DType type, double scale) {
  if ((type != DType::float16 && type != DType::float32) || !(scale >= 0x1p-5 && scale <= 0x1p4)) return false;
  double shift = 0, reach = 0;
  for (std::size_t j = 0; j < moments.shift.size(); ++j) {
    if (std::abs(moments.shift[j]) + moments.reach[j] > 0x1p5) return false;
    shift += moments.shift[j] * moments.shift[j], reach += moments.reach[j] * moments.reach[j];
  }
  return 16 * shift <= reach;
}

Origin::Origin(const ColumnMoments& moments, const Spread& centroids, bool as_are) {
  const double scale = centroids.scale;
  reach = 0;
  double offset = 0;  // the norm of what is not taken from rows then
  for (std::size_t j = 0; j < moments.reach.size(); ++j) {
    const double shift = as_are ? std::abs(moments.shift[j]) * scale : 0, r = moments.reach[j] * scale + shift;
    reach += r * r, offset += shift * shift;
  }
  reach = std::sqrt(reach), offset = std::sqrt(offset);
  norms = (reach + offset) * std::sqrt(centroids.squared);
  const int exponent = std::ilogb(std::max(1.05 * (centroids.squared / 2 + norms), 0x1p-60)) + 1;
  value = std::ldexp(3.0, exponent), unit = std::ldexp(1.0, exponent - 22);
}

}  // namespace ts::inline v0::assign_device
