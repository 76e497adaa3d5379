#include "tallskinny/solvers/kmeans/pass/sums/means.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"

namespace ts::inline v0 {

namespace {

assign_cpu::SumsOfCluster sums_of(const FixedPoint& unit, const ClusterSums& sums, std::span<const double> shift,
                                  index_t cluster) {
  const Twofold weight = sums.exact_weight(unit, cluster), share = Twofold{1, 0} / weight;
  const double *const from_units = unit.from_units.data(), *const shifts = shift.data();
  const std::uint64_t *const upper = sums.upper(cluster), *const lower = sums.lower(cluster);
  return {upper, lower, from_units, shifts, sums.cols(), unit.inverse, weight.hi, weight.lo, share.hi, share.lo};
}

/// Threads for work on all means.
int team(const Context& ctx, const ClusterSums& sums) {
  constexpr index_t worth_a_thread = 2048;  // means
  return static_cast<int>(std::clamp<index_t>(sums.clusters() * sums.cols() / worth_a_thread, 1, ctx.thread_count()));
}

void expect_shapes(const ClusterSums& sums, std::span<const double> shift, HostView<const double> centroids) {
  expects(centroids.rows() == sums.clusters() && centroids.cols() == sums.cols() && std::ssize(shift) == sums.cols(),
          "means: the sums must have the shape of the centroids, and a shift for each column");
}

}  // namespace

double move_to_means(const Context& ctx, const FixedPoint& unit, const ClusterSums& sums, std::span<const double> shift,
                     HostView<double> centroids, const AdjustMean& adjust) {
  expect_shapes(sums, shift, centroids);
  const auto& kernels = assign_cpu::select(ctx.simd);
  const index_t k = sums.clusters(), d = sums.cols();
  std::vector<double> squared_steps(static_cast<std::size_t>(k));
  parallel_ranges(team(ctx, sums), k, [&](index_t first, index_t last) {
    std::vector<double> mean(static_cast<std::size_t>(d));
    for (index_t m = first; m < last; ++m) {
      if (sums.weightless(m)) continue;
      kernels.means(sums_of(unit, sums, shift, m), mean.data());
      if (adjust && !adjust(mean)) continue;
      double* const centroid = centroids.data() + m * centroids.ld();
      squared_steps[static_cast<std::size_t>(m)] = kernels.squared_step(mean.data(), centroid, d);
      std::copy(mean.begin(), mean.end(), centroid);
    }
  });
  return std::accumulate(squared_steps.begin(), squared_steps.end(), 0.0);
}

Twofold inertia_terms(const Context& ctx, const FixedPoint& unit, const ClusterSums& sums,
                      std::span<const double> shift, HostView<const double> centroids) {
  expect_shapes(sums, shift, centroids);
  const auto& kernels = assign_cpu::select(ctx.simd);
  const index_t k = sums.clusters();
  std::vector<double> terms(static_cast<std::size_t>(2 * k));
  parallel_for(team(ctx, sums), k, [&](index_t m) {
    if (!sums.weightless(m))
      kernels.inertia_term(sums_of(unit, sums, shift, m), centroids.data() + m * centroids.ld(), terms.data() + 2 * m);
  });
  Twofold all;
  for (std::size_t m = 0; m < terms.size(); m += 2) all = all + Twofold{terms[m], terms[m + 1]};
  return all.scaled(1 / unit.weight_to_units);
}

}  // namespace ts::inline v0
