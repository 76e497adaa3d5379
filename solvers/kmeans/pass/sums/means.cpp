#include "tallskinny/solvers/kmeans/pass/sums/means.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moved_rows.hpp"

namespace ts::inline v0 {

namespace {

/// A pass of for_each_piece() that adds rows to sums.
struct AddRows {
  struct Scratch {
    std::vector<double> row;
  };
  [[nodiscard]] static Scratch scratch() { return {}; }
};

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

void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<const std::int32_t> labels,
              PerRow<const double> weights, const FixedPoint& unit, ClusterSums& sums) {
  assign_detail::expect_per_row(x, labels, "labels");
  expects(sums.cols() == x.cols(), "add_rows: the sums are those of other rows");
  if (x.on_device()) return assign_device::add_rows(ctx, x, moments, labels, weights, unit, sums);
  const auto& kernels = assign_cpu::select(ctx.simd);
  const index_t chunks = assign_detail::chunk_count(x.rows());
  const int team = assign_detail::team_size(ctx, chunks, static_cast<double>(chunk_rows * x.cols()));
  (void)assign_detail::for_each_piece(team, AddRows{}, chunks, &sums, [&](index_t c, ClusterSums* own, auto& s) {
    for (index_t i = c * chunk_rows; i < std::min(x.rows(), (c + 1) * chunk_rows); ++i) {
      const std::int32_t label = labels.data[i];
      const double weight = weights.empty() ? 1.0 : weights.data[i];
      if (label < 0 || weight == 0) continue;
      s.row.resize(at(x.entries(i)));
      if (x.sparse()) {
        x.load_entries(i, s.row.data());
        own->add_sparse(unit, label, s.row.data(), x.indices() + x.pointers()[i], x.entries(i), weight);
      } else {
        kernels.centred(x, i, moments.shift.data(), s.row.data());
        own->add(unit, label, s.row.data(), weight);
      }
    }
  });
}

ClusterSums sums_of_ranks(const Context& ctx, const ClusterSums& here) {
  std::vector<std::uint64_t> words = here.words();
  ctx.communicator->add(words);
  ClusterSums all(here.clusters(), here.cols());
  all.add_words(words, ctx.thread_count());
  return all;
}

double move_to_means(const Context& ctx, const FixedPoint& unit, const ClusterSums& sums, std::span<const double> shift,
                     HostView<double> centroids, const AdjustMean& adjust) {
  expect_shapes(sums, shift, centroids);
  const auto& kernels = assign_cpu::select(ctx.simd);
  const index_t k = sums.clusters(), d = sums.cols();
  std::vector<double> squared_steps(at(k));
  parallel_ranges(team(ctx, sums), k, [&](index_t first, index_t last) {
    std::vector<double> mean(at(d));
    for (index_t m = first; m < last; ++m) {
      if (sums.weightless(m)) continue;
      kernels.means(sums_of(unit, sums, shift, m), mean.data());
      if (adjust && !adjust(mean)) continue;
      double* const centroid = centroids.data() + m * centroids.ld();
      squared_steps[at(m)] = kernels.squared_step(mean.data(), centroid, d);
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
  std::vector<double> terms(at(2 * k));
  parallel_for(team(ctx, sums), k, [&](index_t m) {
    if (!sums.weightless(m))
      kernels.inertia_term(sums_of(unit, sums, shift, m), centroids.data() + m * centroids.ld(), terms.data() + 2 * m);
  });
  Twofold all;
  for (std::size_t m = 0; m < terms.size(); m += 2) all = all + Twofold{terms[m], terms[m + 1]};
  return all.scaled(1 / unit.weight_to_units);
}

}  // namespace ts::inline v0
