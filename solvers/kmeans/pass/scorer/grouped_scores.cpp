#include "tallskinny/solvers/kmeans/pass/scorer/grouped_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"

namespace ts::inline v0::assign_detail {

namespace {

constexpr index_t least_columns_of_int16 = 16, least_centroids_of_int16 = 8;

/// The largest norm for which there is room: of nearly all rows, if squares of columns are about independent.
double largest_norm_of_rows(const ColumnMoments& moments, double scale) {
  const auto d = static_cast<double>(moments.shift.size());
  double mean_square = 0, most = 0;
  for (std::size_t j = 0; j < moments.shift.size(); ++j) {
    // Scaled first, since squares may be out of range.
    const double offset = (moments.mean[j] - moments.shift[j]) * scale, max_abs = moments.max_abs[j] * scale;
    mean_square += moments.variance[j] * scale * scale + offset * offset;
    most += max_abs * max_abs;
  }
  return std::sqrt(std::min(most, mean_square * (1 + 6 * std::sqrt(2 / d)))) * (1 + 1e-6);
}

}  // namespace

template <class S>
GroupedScores<S>::GroupedScores(const Context& ctx, HostView<const double> of, const ColumnMoments& moments,
                                Scores scores, Copies of_copies)
    : centroids(ctx, of, moments, of_copies) {
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(ctx.simd);
  const auto& score = assign_cpu::score_kernels<S>(kernels);
  const index_t d = centroids.d, k = centroids.k;
  groups = (k + score.group - 1) / score.group;
  negated = Matrix<S>(groups * score.group, d);
  half_norms.assign(at(groups * score.group), std::numeric_limits<S>::infinity());
  parallel_for(team_size(ctx, groups, static_cast<double>(score.group * d)), groups, [&](index_t g) {
    const index_t first = g * score.group, count = std::min(score.group, k - first);
    S* to = negated.data() + first * d;
    for (index_t j = 0; j < d; ++j)
      for (index_t m = 0; m < score.group; ++m) *to++ = m < count ? centroids.negated[at((first + m) * d + j)] : S{};
  });
  std::copy(centroids.half_norms.begin(), centroids.half_norms.end(), half_norms.begin());
  // The longer chain of additions of the two kernels that compute scores.
  const double length = static_cast<double>(d), lanes = static_cast<double>(score.lanes);
  const double by_blocks = std::min<double>(length, assign_cpu::block) + length / assign_cpu::block + 1;
  const double terms = std::max(by_blocks, length / (2 * lanes) + 3 * lanes + 4);
  // The bound is affine in the norm of a row; a little more covers that the margin is computed in S.
  const auto bound = [&](double norm) { return 2.02 * score_bound<S>(terms, norm, centroids.largest_norm, d); };
  margin = {static_cast<S>(1 + 4 * (length + 4) * std::numeric_limits<S>::epsilon()),
            static_cast<S>(length * std::numeric_limits<S>::min()), static_cast<S>(bound(0)),
            static_cast<S>(bound(1) - bound(0))};
  if constexpr (std::is_same_v<S, float>)
    if ((scores == Scores::int16 || scores == Scores::int8) && kernels.int16.best_two != nullptr &&
        d >= least_columns_of_int16 && k >= least_centroids_of_int16)
      integers.emplace(centroids, moments, score.group);
}

template struct GroupedScores<float>;
template struct GroupedScores<double>;

IntegerScores::IntegerScores(const Scored<float>& centroids, const ColumnMoments& moments, index_t group)
    : pairs((centroids.d + 1) / 2) {
  constexpr double most = 0x1.ep30, most_factor = 32767;      // of sums, and of integers
  constexpr double rounding = 0.51, typical_rounding = 0.29;  // of a row's element, of a centroid's
  const index_t k = centroids.k, d = centroids.d, groups = (k + group - 1) / group;
  const double root = std::sqrt(static_cast<double>(d));
  const double of_rows = std::max(largest_norm_of_rows(moments, centroids.scale), 0x1p-60);
  // ||x|| ||c - p / b|| + ||x - q / a|| ||c|| is least, with a b ||x|| ||c|| = most, for this a.
  row_scale = static_cast<float>(std::min(most_factor, std::sqrt(most * rounding / typical_rounding) / of_rows));
  const auto a = static_cast<double>(row_scale);
  const double of_row = rounding * root / a;  // what rounding takes from a row, at most
  largest_squared = static_cast<float>(of_rows * of_rows * (1 - 1e-3 - static_cast<double>(d) * 0x1p-24));
  grouped = Matrix<std::int32_t>(groups * group, pairs);
  std::fill_n(grouped.data(), grouped.rows() * grouped.cols(), 0);
  half_norms.assign(at(groups * group), std::numeric_limits<float>::infinity());
  scales.assign(half_norms.size(), 1), margins.assign(half_norms.size(), 0);
  for (index_t m = 0; m < k; ++m) {
    const auto place = at(m);
    const float* const negated = centroids.negated.data() + m * d;
    if (std::isinf(centroids.half_norms[place])) continue;
    double squared = 0, max_abs = 0;
    for (index_t j = 0; j < d; ++j) {
      const auto c = static_cast<double>(negated[j]);
      squared += c * c, max_abs = std::max(max_abs, std::abs(c));
    }
    const double norm = std::sqrt(squared);
    const double b = std::min(most_factor / std::max(max_abs, 0x1p-60), most / (a * of_rows * std::max(norm, 0x1p-60)));
    double lost = 0;
    for (index_t j = 0; j < d; ++j) {
      const double scaled = static_cast<double>(negated[j]) * b, p = std::nearbyint(scaled);
      lost += (scaled - p) * (scaled - p);
      const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(p)) & 0xffff;
      grouped.data()[(m / group * pairs + j / 2) * group + m % group] |=
          static_cast<std::int32_t>(j % 2 == 0 ? bits : bits << 16);
    }
    // Centroids were rounded to float32 before.
    const double of_centroid = std::sqrt(lost) / b + 0x1p-23 * norm;
    double e = (of_rows + of_row) * of_centroid + of_row * (norm + of_centroid);
    // Rounding of the norms of integers was left out above; where it is large, nothing is decided.
    if (!((of_rows + of_row) * a * (norm * b + rounding * root) < 0x1.ffp30))
      e = std::numeric_limits<double>::infinity();
    const auto half_norm = static_cast<double>(centroids.half_norms[place]);
    half_norms[place] = static_cast<float>(half_norm - 1.01 * e);
    scales[place] = static_cast<float>(1 / (a * b));
    margins[place] = static_cast<float>(2.03 * e);
  }
  // Half norms, sums of blocks, scales and scores are rounded to float32.
  const index_t blocks = (d + assign_cpu::integer_block - 1) / assign_cpu::integer_block;
  // (||q / a|| + r)^2 <= ||q / a||^2 (1 + t) + r^2 (1 + 1 / t) for what rounding took, r; likewise from
  // below.
  const double t = std::max(of_row / of_rows, 0x1p-20);
  margin.slack = static_cast<float>((1 + t) * (1 + static_cast<double>(d + 16) * 0x1p-22));
  margin.least = static_cast<float>(of_row * of_row * (1 + 1 / t) * (1 + 1e-6));
  margin.constant = static_cast<float>(static_cast<double>(2 * blocks + 4) * 0x1p-22 * centroids.largest_norm *
                                       (centroids.largest_norm / 2 + of_rows));
}

}  // namespace ts::inline v0::assign_detail
