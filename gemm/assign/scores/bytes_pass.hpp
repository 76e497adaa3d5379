// A pass in which every row meets every centroid in 8 bits. Internal to the room.
#pragma once

#include <array>

#include "tallskinny/gemm/assign/scores/bytes.hpp"
#include "tallskinny/gemm/assign/scores/listed_pass.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0::assign_detail {

using assign_cpu::BatchOfHeads, assign_cpu::head_group, assign_cpu::head_piece;
using assign_cpu::most_head_rows;

/// Every row meets every centroid in all columns in 8 bits,
///   | x c - h_x h_c |  <=  |h_x| |e_c| + |e_x| |c|  <=  r_x r_c   with x = h_x + e_x,
/// as in Pruning without tails. The least of all greatest scores so far is the limit that a centroid's least score must
/// not exceed; what is listed so is met in float32.
class BytesPass : public ListedPass {
 public:
  BytesPass(const Context& ctx, const AssignArguments& of, Copies copies = Copies::never_win)
      : ListedPass(ctx, of.x, of.moments, of.centroids, Scores::float32, copies),
        columns_((centroids_.d + 63) / 64 * 64),
        groups_(kernels_.pruning, centroids_.k, columns_) {
    // Limits that do not fall leave lists long.
    longest_ = groups_.groups() * head_group;
    if (copies != Copies::like_others) longest_ = std::max<index_t>(1024, longest_ / 8);
    step_ = longest_ + 3 * head_group;
    const index_t k = centroids_.k, d = centroids_.d;
    std::vector<double> norm(static_cast<std::size_t>(k)), error(norm.size());
    parallel_ranges(ctx.thread_count(), k, [&](index_t begin, index_t end) {
      std::vector<float> x(static_cast<std::size_t>(columns_));
      std::vector<std::int8_t> bytes(x.size());
      for (index_t m = begin; m < end; ++m) {
        const auto at = static_cast<std::size_t>(m);
        double square = 0;
        for (index_t j = 0; j < d; ++j) {
          const float value = -centroids_.negated[static_cast<std::size_t>(m * d + j)];
          x[static_cast<std::size_t>(j)] = value, square += static_cast<double>(value) * static_cast<double>(value);
        }
        norm[at] = std::sqrt(square) * (1 + 0x1p-20);
        const Bytes all = round_to_bytes(kernels_.pruning, x.data(), columns_, norm[at], bytes.data());
        groups_.put(kernels_.pruning, m, bytes.data(), all.unit);
        error[at] = all.error + 0x1p-23 * norm[at];
        groups_.half_norms[at] = centroids_.half_norms[at];
      }
    });
    double typical_norm = 0, typical_error = 0;
    for (std::size_t m = 0; m < norm.size(); ++m) typical_norm += norm[m], typical_error += error[m];
    // Rows are about as long, and rounded as much.
    weight_ = weight_for(typical_norm, typical_error, typical_error, typical_norm);
    for (std::size_t m = 0; m < norm.size(); ++m) {
      groups_.radius[m] = float_above(std::sqrt(error[m] * error[m] / weight_ + norm[m] * norm[m]) * (1 + 0x1p-20));
      largest_radius_ = std::max(largest_radius_, static_cast<double>(groups_.radius[m]));
    }
  }

  struct Scratch : ListedPass::Scratch {
    std::array<double, head_piece> norm;
    std::array<std::int32_t, head_piece> start;
  };
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    static_cast<ListedPass::Scratch&>(s) = ListedPass::scratch(columns_);
    return s;
  }

  void piece(index_t p, const Pass& to, ClusterSums* sums, Scratch& s) const {
    piece(p, to, sums, s, [](index_t, double) { return std::numeric_limits<float>::max(); });
  }
  /// @param limit of row i and its norm: the score of a centroid that is nearer than what is known of the row is not
  /// above it. Where there is none the label may stay.
  template <class Limit>
  void piece(index_t p, const Pass& to, ClusterSums* sums, Scratch& s, const Limit& limit) const {
    const index_t i0 = p * head_piece;
    const auto count = static_cast<int>(std::min<index_t>(head_piece, x_.rows() - i0));
    for (int r = 0; r < count; ++r)
      begin(i0 + r, r, round_row(i0 + r, &s.x(r, 0), s.bytes.data() + r * columns_, s), limit, s);
    const std::uint64_t overflown = meet(count, s.bytes.data(), s);
    const std::uint64_t there = count == head_piece ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    for_each_bit(there & ~overflown, [&](int r) { settle(i0 + r, r, to, sums, s); });
    for_each_bit(overflown, [&](int r) { relabel(i0 + r, resolve(i0 + r, s), to, sums, s); });
  }

  /// Whether lists are so short that this costs less than 16 bits would.
  [[nodiscard]] bool pays(const Scratch& s, index_t rows) const {
    const double met = static_cast<double>(s.stats.met) / static_cast<double>(rows),
                 d = static_cast<double>(centroids_.d);
    return met * (d / 8 + 60) < 0.7 * static_cast<double>(centroids_.k) * d / 64;
  }

 protected:
  /// Row i, shifted and scaled, and its bytes.
  RowInBytes round_row(index_t i, float* x, std::int8_t* bytes, Scratch& s) const {
    kernels_.pruning.scaled_row(x_, i, i, shift_.packing, s.row.data(), x);
    const double norm = std::sqrt(kernels_.pruning.square(x, x_.cols())) * (1 + 0x1p-20);
    return {round_to_bytes(kernels_.pruning, x, columns_, norm, bytes), norm};
  }
  template <class Limit>
  void begin(index_t i, int r, const RowInBytes& row, const Limit& limit, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    const auto& [all, norm] = row;
    const double error = all.error + 0x1p-23 * norm, radius = std::sqrt(weight_ * all.norm * all.norm + error * error);
    s.norm[at] = norm, s.scale[at] = static_cast<float>(all.unit), s.start[at] = -all.sum * kernels_.pruning.offset;
    s.radius[at] = float_above(radius * (1 + 0x1p-20));
    s.floor[at] = rounding_of(norm, radius);
    s.limit[at] = std::min(limit(i, norm) + s.floor[at], std::numeric_limits<float>::max());
    s.end[at] = list(r, s);
  }
  /// What rounding to float32 takes from a least score, and adds to a greatest one.
  [[nodiscard]] float rounding_of(double norm, double radius) const {
    const double largest = centroids_.largest_norm;
    return float_above(2 * 0x1p-20 * (largest * (largest + norm) + radius * largest_radius_));
  }

  /// Lists what may be nearest; returns the rows of which more may be than a list holds. Limits stay where s.floor is
  /// infinite. @param bytes of these rows
  std::uint64_t meet(int count, const std::int8_t* bytes, Scratch& s) const {
    const int at_once = kernels_.pruning.rows;
    const assign_cpu::UseTiles tiles(kernels_.pruning);
    const auto to_lower = reinterpret_cast<std::int32_t*>(s.lowers.data()) - s.lists.data();
    const std::int8_t* head[head_piece];
    for (int r = 0; r < head_piece; ++r) head[r] = bytes + std::min(r, count - 1) * columns_;
    // What fills up the last rows at once is in nobody's list.
    for (auto at = static_cast<std::size_t>(count); at < head_piece; ++at)
      s.limit[at] = std::numeric_limits<float>::lowest(), s.end[at] = list(head_piece, s);
    std::uint64_t overflown = 0;
    for (index_t g = 0; g < groups_.groups(); ++g) {
      const assign_cpu::GroupOfHeads group = groups_.group(g);
      for (int r0 = 0; r0 < count; r0 += at_once) {
        const auto at = static_cast<std::size_t>(r0);
        BatchOfHeads batch{};
        batch.head = &head[at], batch.start = &s.start[at], batch.scale = &s.scale[at], batch.radius = &s.radius[at];
        batch.floor = &s.floor[at], batch.limit = &s.limit[at], batch.end = &s.end[at];
        batch.to_lower = to_lower, batch.count = std::min(at_once, count - r0);
        kernels_.pruning.nearest(group, batch, columns_);
      }
      for (int r = 0; r < count; ++r) {
        const auto at = static_cast<std::size_t>(r);
        if (s.end[at] - list(r, s) <= longest_) continue;
        filter(r, s);
        if (s.end[at] - list(r, s) <= longest_ / 2) continue;
        overflown |= std::uint64_t{1} << r;
        s.end[at] = list(r, s);
      }
    }
    return overflown;
  }
  void settle(index_t i, int r, const Pass& to, ClusterSums* sums, Scratch& s) const {
    const auto at = static_cast<std::size_t>(r);
    filter(r, s);
    const std::int32_t* const numbers = list(r, s);
    const index_t count = s.end[at] - numbers;
    if (count == 0) return;
    std::int32_t nearest = numbers[0];
    if (count > 1) {
      s.stats.met += count;
      kernels_.pruning.listed_scores(&s.x(r, 0), centroids_.d, centroids_.negated.data(), centroids_.half_norms.data(),
                                     numbers, count, s.scores.data());
      nearest = decide_listed(i, numbers, count, margin_of(s.norm[at]), to, s);
    }
    relabel(i, nearest, to, sums, s);
  }

  index_t columns_;
  GroupsOfBytes groups_;
  double weight_ = 1, largest_radius_ = 0;
};

}  // namespace ts::inline v0::assign_detail
