#include <algorithm>

#include "tallskinny/solvers/kmeans/directions_detail.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding_detail.hpp"
#include "tallskinny/solvers/kmeans/variants_detail.hpp"

namespace ts::solvers {

using namespace kmeans_detail;

KMeansPrediction predict(const Context& ctx, const RowSource& rows, HostView<const double> centers, KMeansMetric metric,
                         std::span<const double> weights, KMeansPrecision precision) {
  expects(centers.rows() >= 1, "there are no centres to predict with");
  const Matrix<double> usable = usable_centers(rows.cols(), centers, metric);
  check_ranks(ctx, rows);
  const bool weighted = check_weights(ctx, rows.rows(), weights);
  check_finite(ctx, rows);
  const Directions normal(ctx, rows, weights, metric);
  KMeansProblem problem{
      ctx, normal.rows_or(rows), normal.scale, normal.weights_or(weights), centers.rows(), normal.zero_rows};
  problem.weighted_elsewhere = weighted || normal.all_zero_rows > 0;
  problem.find_moments();
  KMeansPrediction result;
  result.zero_rows = normal.all_zero_rows;
  result.rescored = label_all(problem, usable.cview(), scores_of(precision), result.labels);
  result.inertia = inertia_of(problem, usable.cview(), result.labels);
  result.sizes = sizes_of(ctx, result.labels, centers.rows());
  return result;
}

index_t verify(const Context& ctx, const RowSource& rows, HostView<const double> centers,
               std::span<const std::int32_t> labels, KMeansMetric metric, index_t sample) {
  const Matrix<double> usable = usable_centers(rows.cols(), centers, metric);
  check_ranks(ctx, rows);
  const Directions normal(ctx, rows, {}, metric);
  const KMeansProblem problem{ctx, normal.rows_or(rows), normal.scale, {}};
  if (const index_t n = problem.all_rows(); sample > 0 && sample < n) {
    constexpr std::uint64_t checked = 97;  // a stream of its own
    std::vector<index_t> numbers = some_rows(n, sample, Random(0, checked));
    std::sort(numbers.begin(), numbers.end());
    std::vector<std::int32_t> theirs;
    for (const index_t i : problem.here_of(numbers)) theirs.push_back(labels[at(i)]);
    theirs = problem.from_owners(numbers, std::move(theirs));
    return count_misassigned(ctx, Gathered(problem, numbers).rows(), usable.cview(),
                             PerRow<const std::int32_t>(theirs));
  }
  const auto there = problem.beside_rows(std::vector<std::int32_t>(labels.begin(), labels.end()));
  index_t wrong = 0;
  problem.for_each_block([&](index_t first, const Rows& block) {
    wrong += count_misassigned(ctx, block, usable.cview(), there.view().part(first, block.rows()));
  });
  return sum_of_ranks(ctx, wrong);
}

Matrix<double> transform(const Context& ctx, const Rows& rows, HostView<const double> centers, KMeansMetric metric) {
  const Matrix<double> usable = usable_centers(rows.cols(), centers, metric);
  const RowsInMemory source(rows);
  check_ranks(ctx, source);
  check_finite(ctx, source);
  const Directions normal(ctx, source, {}, metric);
  KMeansProblem{ctx, normal.rows_or(source), normal.scale, {}}.find_moments();  // refuses what cannot be squared
  Matrix<double> out(rows.rows(), centers.rows());
  distances(ctx, rows.scaled(normal.scale), usable.cview(), out.view());
  return out;
}

KMeansPrediction predict(const Context& ctx, const Rows& rows, HostView<const double> centers, KMeansMetric metric,
                         std::span<const double> weights, KMeansPrecision precision) {
  return predict(ctx, RowsInMemory(rows), centers, metric, weights, precision);
}

index_t verify(const Context& ctx, const Rows& rows, HostView<const double> centers,
               std::span<const std::int32_t> labels, KMeansMetric metric, index_t sample) {
  return verify(ctx, RowsInMemory(rows), centers, labels, metric, sample);
}

}  // namespace ts::solvers
