// A pass that scores every row against every centroid in 8 bits. Internal to the room.
#pragma once

#include <array>
#include <bit>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/bytes.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/dense_pass.hpp"

namespace ts::inline v0::assign_detail {

using assign_cpu::BatchOfRows, assign_cpu::group_centroids, assign_cpu::piece_size;
using assign_cpu::most_batch_rows;

/// use(r) for the bits that are set.
template <class Use>
void for_each_bit(std::uint64_t bits, const Use& use) {
  for (; bits != 0; bits &= bits - 1) use(std::countr_zero(bits));
}

/// Scores every row against every centroid in all columns in 8 bits,
///   | x c - h_x h_c |  <=  |h_x| |e_c| + |e_x| |c|  <=  r_x r_c   with x = h_x + e_x,
/// the last step by Cauchy and Schwarz. The least of all greatest scores so far is the limit that a centroid's least
/// score must not exceed; centroids listed so are scored in float32.
class BytesPass : public DensePass<float> {
 public:
  /// @param place of each centroid in groups; none: in their order
  BytesPass(const Context& ctx, const AssignArguments& of, Copies copies = Copies::never_win,
            std::span<const std::int32_t> place = {})
      : DensePass<float>(ctx, of, Scores::float32, copies),
        columns_((centroids_.d + 63) / 64 * 64),
        groups_(kernels_.pruning, centroids_.k, columns_) {
    // Limits that do not fall leave lists long.
    longest_ = groups_.groups() * group_centroids;
    if (copies != Copies::like_others) longest_ = std::max<index_t>(1024, longest_ / 8);
    step_ = longest_ + 3 * group_centroids;
    const index_t k = centroids_.k, d = centroids_.d;
    std::vector<double> norm(at(k)), error(norm.size());
    parallel_ranges(ctx.thread_count(), k, [&](index_t begin, index_t end) {
      std::vector<float> x(at(columns_));
      std::vector<std::int8_t> bytes(x.size());
      for (index_t m = begin; m < end; ++m) {
        const auto q = at(m);
        double square = 0;
        for (index_t j = 0; j < d; ++j) {
          const float value = -centroids_.negated[at(m * d + j)];
          x[at(j)] = value, square += static_cast<double>(value) * static_cast<double>(value);
        }
        norm[q] = std::sqrt(square) * (1 + 0x1p-20);
        const Bytes all = round_to_bytes(kernels_.pruning, x.data(), columns_, norm[q], bytes.data());
        const index_t to = place.empty() ? m : place[q];
        groups_.put(kernels_.pruning, to, bytes.data(), all.unit);
        error[q] = all.error + 0x1p-23 * norm[q];
        groups_.half_norms[at(to)] = centroids_.half_norms[q];
      }
    });
    double typical_norm = 0, typical_error = 0;
    for (std::size_t m = 0; m < norm.size(); ++m) typical_norm += norm[m], typical_error += error[m];
    // Rows are about as long, and rounded as much.
    weight_ = weight_for(typical_norm, typical_error, typical_error, typical_norm);
    for (std::size_t m = 0; m < norm.size(); ++m) {
      float& radius = groups_.radius[place.empty() ? m : at(place[m])];
      radius = float_above(std::sqrt(error[m] * error[m] / weight_ + norm[m] * norm[m]) * (1 + 0x1p-20));
      largest_radius_ = std::max(largest_radius_, static_cast<double>(radius));
    }
  }

  struct Scratch : DensePass<float>::Scratch {
    Matrix<float> x;                       ///< rows of a piece, shifted and scaled
    InLines<std::int8_t> bytes;            ///< of these rows
    std::vector<std::int32_t> lists, ids;  ///< step_ of each row; of one row
    std::vector<float> lowers;             ///< beside lists: least scores
    std::array<float, piece_size> scale, radius, limit, floor;
    std::array<std::int32_t*, piece_size> end;  ///< of lists
    std::array<double, piece_size> norm;
    std::array<std::int32_t, piece_size> start;
  };
  [[nodiscard]] Scratch scratch() const {
    const auto step = at(step_);
    Scratch s;
    static_cast<DensePass<float>::Scratch&>(s) = DensePass<float>::scratch();
    s.x = Matrix<float>::zeros(piece_size, columns_);
    s.bytes.resize(at(piece_size * columns_));
    s.lists.resize((piece_size + 1) * step), s.lowers.resize(s.lists.size());
    s.ids.resize(step), s.scores.resize(std::max(s.scores.size(), step));
    return s;
  }

  /// Labels of `count` rows from row i0 on, piece_size of them at most.
  void piece(index_t i0, index_t count, Scratch& s) const {
    for (int r = 0; r < count; ++r) begin(i0 + r, r, s);
    const std::uint64_t overflown = score(static_cast<int>(count), s.bytes.data(), s);
    for_each_bit(first_bits(count) & ~overflown, [&](int r) { resolve_by_list(i0 + r, r, s); });
    for_each_bit(overflown, [&](int r) { relabel(i0 + r, resolve(i0 + r, s), s); });
  }

  /// True if lists are so short that 8 bits cost less than 16 bits would.
  [[nodiscard]] bool pays(const Scratch& s, index_t rows) const {
    const double scored = static_cast<double>(s.stats.scored) / static_cast<double>(rows),
                 d = static_cast<double>(centroids_.d);
    return scored * (d / 8 + 60) < 0.7 * static_cast<double>(centroids_.k) * d / 64;
  }

 protected:
  [[nodiscard]] static std::uint64_t first_bits(index_t count) noexcept {
    return count == piece_size ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
  [[nodiscard]] std::int32_t* list(int r, Scratch& s) const { return s.lists.data() + r * step_; }
  /// Takes from a list what was listed before limits were lowered.
  void filter(int r, Scratch& s) const {
    const auto q = at(r);
    std::int32_t *const begin = list(r, s), *kept = begin;
    float* const lowers = s.lowers.data() + r * step_;
    for (std::int32_t* place = begin; place != s.end[q]; ++place)
      if (lowers[place - begin] <= s.limit[q]) lowers[kept - begin] = lowers[place - begin], *kept++ = *place;
    s.end[q] = kept;
  }

  /// The nearest centroid of row i, which is one of the `count` numbers of a list with scores in s.scores.
  /// @param margin twice the error of a score, at most
  std::int32_t decide_listed(index_t i, const std::int32_t* list, index_t count, float margin, Scratch& s) const {
    const float* const scores = s.scores.data();
    const index_t best = std::min_element(scores, scores + count) - scores;
    s.candidates.clear();
    for (index_t q = 0; q < count; ++q)
      if (scores[q] - scores[best] <= margin) s.candidates.push_back(list[q]);
    if (s.candidates.size() <= 1 || !of_.proven()) return list[best];
    ++s.stats.rescored;
    std::sort(s.candidates.begin(), s.candidates.end());
    return nearest_candidate(i, s);
  }

  /// Twice the error of the score of a row of this norm, at most.
  [[nodiscard]] float margin_of(double norm) const {
    const double margin = static_cast<double>(margin_.constant) + static_cast<double>(margin_.by_norm) * norm;
    return static_cast<float>(margin * (1 + 0x1p-18));
  }

  /// Row i, shifted and scaled, its bytes, and its numbers in a batch.
  void begin(index_t i, int r, Scratch& s) const {
    const auto q = at(r);
    float* const x = &s.x(r, 0);
    kernels_.pruning.scaled_row(x_, i, shift_.packing, s.row.data(), x);
    const double norm = std::sqrt(kernels_.pruning.square(x, x_.cols())) * (1 + 0x1p-20);
    const Bytes all = round_to_bytes(kernels_.pruning, x, columns_, norm, s.bytes.data() + r * columns_);
    const double error = all.error + 0x1p-23 * norm, radius = std::sqrt(weight_ * all.norm * all.norm + error * error);
    s.norm[q] = norm, s.scale[q] = static_cast<float>(all.unit), s.start[q] = -all.sum * kernels_.pruning.offset;
    s.radius[q] = float_above(radius * (1 + 0x1p-20));
    s.floor[q] = rounding_of(norm, radius);
    s.limit[q] = std::numeric_limits<float>::max();
    s.end[q] = list(r, s);
  }
  /// Bound of rounding to float32: lowers a least score, and raises a greatest one.
  [[nodiscard]] float rounding_of(double norm, double radius) const {
    const double largest = centroids_.largest_norm;
    return float_above(2 * 0x1p-20 * (largest * (largest + norm) + radius * largest_radius_));
  }

  /// Lists what may be nearest; returns the rows of which more may be than a list holds. Limits stay where s.floor is
  /// infinite. @param bytes of these rows
  std::uint64_t score(int count, const std::int8_t* bytes, Scratch& s) const {
    const int at_once = kernels_.pruning.rows;
    const assign_cpu::UseTiles tiles(kernels_.pruning);
    const auto to_lower = reinterpret_cast<std::int32_t*>(s.lowers.data()) - s.lists.data();
    const std::int8_t* quantized[piece_size];
    for (int r = 0; r < piece_size; ++r) quantized[r] = bytes + std::min(r, count - 1) * columns_;
    // Rows that fill up the last batch are in no list.
    for (auto q = at(count); q < piece_size; ++q)
      s.limit[q] = std::numeric_limits<float>::lowest(), s.end[q] = list(piece_size, s);
    std::uint64_t overflown = 0;
    for (index_t g = 0; g < groups_.groups(); ++g) {
      const assign_cpu::CentroidGroup group = groups_.group(g);
      for (int r0 = 0; r0 < count; r0 += at_once) {
        const auto q = at(r0);
        BatchOfRows batch{};
        batch.quantized = &quantized[q], batch.start = &s.start[q], batch.scale = &s.scale[q],
        batch.radius = &s.radius[q];
        batch.floor = &s.floor[q], batch.limit = &s.limit[q], batch.end = &s.end[q];
        batch.to_lower = to_lower, batch.count = std::min(at_once, count - r0);
        kernels_.pruning.nearest(group, batch, columns_);
      }
      for (int r = 0; r < count; ++r) {
        const auto q = at(r);
        if (s.end[q] - list(r, s) <= longest_) continue;
        filter(r, s);
        if (s.end[q] - list(r, s) <= longest_ / 2) continue;
        overflown |= std::uint64_t{1} << r;
        s.end[q] = list(r, s);
      }
    }
    return overflown;
  }
  void resolve_by_list(index_t i, int r, Scratch& s) const {
    const auto q = at(r);
    filter(r, s);
    const std::int32_t* const numbers = list(r, s);
    const index_t count = s.end[q] - numbers;
    std::int32_t nearest = numbers[0];
    if (count > 1) {
      s.stats.scored += count;
      kernels_.pruning.listed_scores(&s.x(r, 0), centroids_.d, centroids_.negated.data(), centroids_.half_norms.data(),
                                     numbers, count, s.scores.data());
      nearest = decide_listed(i, numbers, count, margin_of(s.norm[q]), s);
    }
    relabel(i, nearest, s);
  }

  index_t columns_;
  GroupsOfBytes groups_;
  index_t longest_ = 0, step_ = 0;  ///< of a list; from the list of one row to that of the next
  double weight_ = 1, largest_radius_ = 0;
};

}  // namespace ts::inline v0::assign_detail
