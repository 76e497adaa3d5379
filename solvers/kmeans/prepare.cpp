// The kernels of Lloyd's algorithm on a GPU, compiled together before it begins.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/runtime/compile_ahead.hpp"
#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"
#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"
#include "tallskinny/solvers/kmeans/pass/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/distances.hpp"
#include "tallskinny/solvers/kmeans/seeding/candidate_sample_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

using namespace kmeans_detail;

/// use(a sample of so many rows).
template <class Use>
void on_sample(const KMeansProblem& p, index_t size, const Use& use) {
  const CopiedRows values(p, std::vector<index_t>(at(size), 0));
  const std::vector<double> weights(at(size), 1.0);
  KMeansProblem of_sample{p.ctx, values.rows(), {}, weights, p.k, {}, p.moments};
  of_sample.place_weights();
  use(of_sample);
}

/// k-means++ on rows in memory, a sample of them, and centres chosen from it.
void rehearse_seeding(const KMeansProblem& p) {
  Potential potential(p);
  potential.lower(Matrix<double>::zeros(1, p.cols()).cview());
  (void)potential.keep(1, Philox{});
  const std::vector<index_t> one{0};
  (void)potential.squared(one);
  Matrix<double> row(1, p.cols());
  p.load_rows(one, row.view());
  const index_t size = seeding_sample(p.rows(), p.cols(), p.k);
  if (const index_t more = size / seeding_rows_for_each; 1 + more < p.k)
    potential.lower(std::vector<index_t>(at(more), 0));
  on_sample(p, size, [&](const KMeansProblem& of_sample) {
    Potential candidates(of_sample);
    (void)candidates.choose({seeding_trials(p.k), 1, 0, Philox{}, 0});
  });
}

/// The candidates of a round of k-means||: about so many, for which two kernels may serve.
void rehearse_rounds(const KMeansProblem& p) {
  Potential potential(p);
  auto nearest = p.filled<std::int32_t>(no_label);
  const double expected = static_cast<double>(p.k) / 2;
  for (const double apart : {-2.0, 2.0}) {
    const auto count = static_cast<index_t>(expected + apart * std::sqrt(expected));
    const std::vector<index_t> rows(at(std::max<index_t>(count, 1)), 0);
    potential.lower(rows, nearest.view());
  }
}

void rehearse_passes(const KMeansProblem& p, const Rows& rows, const KMeansOptions& options) {
  const std::vector<std::int32_t> none;
  const auto made = Clusters::make(p.ctx, Space::device, p.moments, unit_of(p), Matrix<double>::zeros(p.k, p.cols()));
  Clusters& clusters = *made;
  PerRowArray<std::int32_t> labels(p.ctx, Space::device, p.rows(), no_label);
  const index_t with_projections =
      options.metric == KMeansMetric::cosine ? 0 : DeviceFilters::passes_of(options.max_iter);
  clusters.rehearse(rows, scores_of(options.precision), labels.view(), p.weights_of(0, p.rows()), with_projections);
  if (const index_t axes = with_projections > 0 ? clusters.projection_form(rows, with_projections).columns : 0;
      axes > 0)
    (void)leading_space(p.ctx, rows, p.moments, axes);
  clusters.add_rows(rows, labels.view(), p.weights_of(0, p.rows()));
  (void)clusters.move_to_means();
  (void)clusters.farthest_rows(rows, labels.view(), 1);
  clusters.move_rows(Matrix<double>::zeros(1, p.cols()).cview(), std::vector{0}, std::vector{0}, std::vector{1.0});
  (void)clusters.inertia_terms();
  const auto centers = Matrix<double>::zeros(p.k, p.cols());
  (void)inertia(p.ctx, rows, centers.cview(), labels.view(), p.weights_of(0, p.rows()));
  (void)count_misassigned(p.ctx, rows, centers.cview(), labels.view());
}

}  // namespace

void prepare_kmeans(const Context& ctx, DType type, index_t rows, index_t cols, index_t k, const KMeansOptions& options,
                    const ColumnMoments* moments) {
  const UseHostMemory use(ctx.host_memory);
  if (rows < 1 || cols < 1 || k < 1 || options.algorithm != KMeansAlgorithm::lloyd) return;
  compile_ahead(ctx, [&](const Context& distributed) {
    const Context rehearsal = alone(distributed);
    by_real_type(type, [&]<class T>(std::type_identity<T>) {
      const DeviceMatrix<T> x(rehearsal.stream, rows, cols);
      const Rows all(rehearsal.stream, x.cview());
      const RowsInMemory source(all);
      const std::vector<double> weights(options.weights.empty() ? 0 : at(rows), 1.0);
      KMeansProblem p{rehearsal, source, {}, weights, k};
      p.place_weights();
      if (moments == nullptr) {
        MomentsOfBlocks rounds(cols);
        rounds.first_round(rehearsal, all), rounds.second_round(rehearsal, all);
        const std::vector<double> zero(at(cols), 0.0), one(at(cols), 1.0);
        p.moments = {zero, one, zero, one};
      } else {
        p.moments = *moments;
      }
      const bool rounds = options.init == KMeansInit::parallel;
      if (rounds) rehearse_rounds(p);
      if (const index_t size = rounds_sample(p.rows(), p.cols(), p.k); rounds && size < p.rows())
        on_sample(p, size, [](const KMeansProblem& of_sample) { rehearse_rounds(of_sample); });
      if (rounds || options.init == KMeansInit::plus_plus) rehearse_seeding(p);
      rehearse_passes(p, all, options);
    });
  });
  if (ctx.stream && ctx.stream.rehearsal() == nullptr && moments != nullptr)
    assign_device::prepare_products(ctx, {.rows = {.type = type, .n = rows, .d = cols}, .k = k});
}

}  // namespace ts::inline v0::solvers
