#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/host_memory.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0 {

namespace {

// Adding 1.5 2^52 moves the last bit of a double to the place of the ones: the sum is rounded to an integer
// (ties to even, so symmetric in the sign) and its low bits hold that integer.
constexpr double magic = 0x1.8p52;
const auto magic_bits = std::bit_cast<std::uint64_t>(magic);

struct Limbs {
  std::uint64_t upper, lower;
};
Limbs split(double in_units, double one) {
  const double p = in_units * one;
  const double rounded = p + magic;
  const double rest = (p - (rounded - magic)) * one;
  return {std::bit_cast<std::uint64_t>(rounded) - magic_bits, std::bit_cast<std::uint64_t>(rest + magic) - magic_bits};
}

/// upper + lower 2^-bits: halves of limbs are numbers of float64, and of the sum of these every bit finds
/// room, since limbs stay below 2^62 and bits are 11 at least.
Twofold join(std::uint64_t upper, std::uint64_t lower, const FixedPoint& unit) {
  const auto top = [](std::uint64_t limb) {
    return static_cast<double>(static_cast<std::int32_t>(limb >> 32)) * 0x1p32;
  };
  const auto bottom = [](std::uint64_t limb) { return static_cast<double>(static_cast<std::uint32_t>(limb)); };
  const Twofold whole = Twofold::sum_of(top(upper), bottom(upper) + top(lower) * unit.inverse);
  return Twofold::sum_of(whole.hi, whole.lo + bottom(lower) * unit.inverse);
}

}  // namespace

double inverse_power_of_two(double x) noexcept {
  if (!(x > 0)) return 1;
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, -std::clamp(exponent, -1020, 1020));
}

FixedPoint::FixedPoint(std::span<const double> max_abs, double largest_weight, index_t rows)
    : to_units(max_abs.size()), from_units(max_abs.size()), weight_to_units(inverse_power_of_two(largest_weight)) {
  expects(rows <= index_t{1} << 50, "fixed-point sums hold at most 2^50 rows");
  bits = std::min(30, 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<index_t>(rows, 1)))));
  one = std::ldexp(1.0, bits), inverse = 1 / one;
  for (std::size_t j = 0; j < max_abs.size(); ++j)
    to_units[j] = inverse_power_of_two(max_abs[j]), from_units[j] = 1 / to_units[j];
}

ClusterSums::ClusterSums(index_t clusters, index_t cols)
    : clusters_(clusters),
      cols_(cols),
      upper_(at(clusters * cols), own_host_memory()),
      lower_(at(clusters * cols), own_host_memory()),
      weight_upper_(at(clusters)),
      weight_lower_(at(clusters)),
      counts_(at(clusters)) {}

void ClusterSums::add_weight(const FixedPoint& unit, index_t cluster, double weight, bool take_away) noexcept {
  const auto c = at(cluster);
  const Limbs w = split((take_away ? -weight : weight) * unit.weight_to_units, unit.one);
  weight_upper_[c] += w.upper;
  weight_lower_[c] += w.lower;
  counts_[c] += take_away ? ~std::uint64_t{0} : std::uint64_t{1};
}

void ClusterSums::add(const FixedPoint& unit, index_t cluster, const double* v, double weight, bool take_away) {
  add_sparse(unit, cluster, v, nullptr, cols_, weight, take_away);
}

void ClusterSums::add_sparse(const FixedPoint& unit, index_t cluster, const double* v, const std::int32_t* columns,
                             index_t entries, double weight, bool take_away) {
  const double w = (take_away ? -weight : weight) * unit.weight_to_units;
  std::uint64_t* const up = upper(cluster);
  std::uint64_t* const low = lower(cluster);
  for (index_t p = 0; p < entries; ++p) {
    const index_t j = columns == nullptr ? p : columns[p];
    const Limbs l = split(w * (v[p] * unit.to_units[at(j)]), unit.one);
    up[j] += l.upper;
    low[j] += l.lower;
  }
  add_weight(unit, cluster, weight, take_away);
}

void ClusterSums::merge(const ClusterSums& other) noexcept {
  const auto to = parts_of(*this);
  const auto from = parts_of(other);
  for (std::size_t p = 0; p < to.size(); ++p)
    for (std::size_t i = 0; i < to[p].size(); ++i) to[p][i] += from[p][i];
}

void ClusterSums::merge_cluster(index_t cluster, const ClusterSums& other) noexcept {
  for (index_t j = 0; j < cols_; ++j) {
    upper(cluster)[j] += other.upper(0)[j];
    lower(cluster)[j] += other.lower(0)[j];
  }
  const auto c = at(cluster);
  weight_upper_[c] += other.weight_upper_[0];
  weight_lower_[c] += other.weight_lower_[0];
  counts_[c] += other.counts_[0];
}

std::vector<std::uint64_t> ClusterSums::words() const {
  std::vector<std::uint64_t> all;
  all.reserve(2 * upper_.size() + 3 * counts_.size());
  for (const auto part : parts_of(*this)) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void ClusterSums::add_words(std::span<const std::uint64_t> words, int threads) noexcept {
  const std::uint64_t* next = words.data();
  for (const auto part : parts_of(*this)) {
    std::uint64_t* const to = part.data();
    const auto count = static_cast<index_t>(part.size());
    parallel_ranges(count > 1 << 16 ? threads : 1, count, [to, next](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) to[i] += next[i];
    });
    next += count;
  }
}

double ClusterSums::weight(const FixedPoint& unit, index_t cluster) const noexcept {
  return exact_weight(unit, cluster).hi * unit.inverse / unit.weight_to_units;
}

bool ClusterSums::weightless(index_t cluster) const noexcept {
  const auto c = at(cluster);
  return weight_upper_[c] == 0 && weight_lower_[c] == 0;
}

Twofold ClusterSums::exact_weight(const FixedPoint& unit, index_t cluster) const noexcept {
  const auto c = at(cluster);
  return join(weight_upper_[c], weight_lower_[c], unit);
}

Twofold ClusterSums::exact_sum(const FixedPoint& unit, index_t cluster, index_t j) const noexcept {
  const auto place = at(cluster * cols_ + j);
  return join(upper_[place], lower_[place], unit);
}

double ClusterSums::mean(const FixedPoint& unit, index_t cluster, index_t j, double shift) const noexcept {
  const Twofold sum = exact_sum(unit, cluster, j), share = Twofold{1, 0} / exact_weight(unit, cluster);
  const double from = unit.from_units[at(j)], p = sum.hi * share.hi;
  const double rest = std::fma(sum.hi, share.hi, -p) + (sum.hi * share.lo + sum.lo * share.hi);
  const Twofold mean = Twofold::sum_of(p * from, shift);
  return mean.hi + (mean.lo + rest * from);
}

}  // namespace ts::inline v0
