#include "tallskinny/solvers/kmeans/pass/scorer/bytes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ts::inline v0::assign_detail {

float float_above(double x) noexcept {
  return static_cast<float>(x * (1 + 0x1p-22)) + std::numeric_limits<float>::min();
}

std::uint16_t half_below(float x) noexcept {
  if (!(x >= 0x1p-14F)) return 0;
  if (x >= 65504) return 0x7bff;
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(x) - 0x38000000U) >> 13);
}

double weight_for(double a, double t, double b, double s) noexcept {
  const double floor = 1e-6 * (a + t + b + s) + 1e-30;
  return std::max(b, floor) * std::max(t, floor) / (std::max(a, floor) * std::max(s, floor));
}

Bytes round_to_bytes(const assign_cpu::PruningKernels& kernels, const float* x, index_t columns, double norm,
                     std::int8_t* bytes) {
  assign_cpu::QuantizedRow quantized{};
  kernels.quantize_row(x, columns, bytes, quantized);
  if (quantized.factor == 0) return {0, 0, 0, norm};
  const double unit = 1 / static_cast<double>(quantized.factor), root = std::sqrt(static_cast<double>(columns));
  // Sums of squares were rounded, and so was each product with the factor: by 2^-16 of a unit, and less.
  const double more = 1 + 1e-4 + static_cast<double>(columns) * 0x1p-26;
  return {unit, quantized.sum, std::sqrt(static_cast<double>(quantized.squares)) * more * unit,
          (std::sqrt(static_cast<double>(quantized.lost)) * more + 1e-4 * root) * unit};
}

GroupsOfBytes::GroupsOfBytes(const assign_cpu::PruningKernels& kernels, index_t places, index_t of_each)
    : columns(of_each) {
  const index_t size = assign_cpu::group_centroids, padded = (places + size - 1) / size * size;
  quads.assign(at(padded * columns + assign_cpu::beyond_quads), static_cast<std::uint8_t>(kernels.offset));
  half_norms.assign(at(padded), assign_cpu::no_bound);
  scale.assign(half_norms.size(), 0), radius.assign(half_norms.size(), 0);
}

void GroupsOfBytes::put(const assign_cpu::PruningKernels& kernels, index_t place, const std::int8_t* bytes,
                        double unit) {
  constexpr index_t size = assign_cpu::group_centroids;
  std::uint8_t* const to = quads.data() + place / size * size * columns + place % size * 4;
  for (index_t j = 0; j < columns; ++j)
    to[j / 4 * size * 4 + j % 4] = static_cast<std::uint8_t>(bytes[j] + kernels.offset);
  scale[at(place)] = -static_cast<float>(unit);
}

}  // namespace ts::inline v0::assign_detail
