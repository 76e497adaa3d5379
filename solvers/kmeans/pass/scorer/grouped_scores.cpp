#include "tallskinny/solvers/kmeans/pass/scorer/grouped_scores.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"

namespace ts::inline v0::assign_detail {

namespace {

constexpr index_t least_columns_of_int16 = 16, least_centroids_of_int16 = 8;

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

}  // namespace ts::inline v0::assign_detail
