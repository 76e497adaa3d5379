#include "tallskinny/solvers/kmeans/kmeans.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

namespace ts::solvers {

namespace {

using namespace kmeans_detail;

/// Reciprocal norms of the rows, 0 for rows without a direction.
struct Directions {
  std::vector<double> scale;
  std::vector<index_t> zero_rows;
  std::vector<double> weights;  ///< the given ones, and 0 for rows without a direction, if there are any

  [[nodiscard]] std::span<const double> weights_or(std::span<const double> given) const {
    return zero_rows.empty() ? given : std::span<const double>(weights);
  }
};

Directions directions(const Context& ctx, const Rows& rows, std::span<const double> weights) {
  constexpr double least_norm = 0x1p-1000;  // its inverse is finite
  Directions found;
  found.scale.resize(static_cast<std::size_t>(rows.rows()));
#pragma omp parallel num_threads(ctx.thread_count())
  {
    std::vector<double> row;
#pragma omp for schedule(static)
    for (index_t i = 0; i < rows.rows(); ++i) {
      row.resize(static_cast<std::size_t>(rows.entries(i)));
      rows.load_entries(i, row.data());
      double largest = 0, sum = 0;
      for (const double x : row) largest = std::max(largest, std::abs(x));
      if (largest > 0)
        for (const double x : row) sum += (x / largest) * (x / largest);
      const double norm = largest * std::sqrt(sum);
      const bool usable = norm >= least_norm && std::isfinite(norm);
      found.scale[static_cast<std::size_t>(i)] = usable ? 1 / norm : 0;
    }
  }
  for (index_t i = 0; i < rows.rows(); ++i)
    if (found.scale[static_cast<std::size_t>(i)] == 0) found.zero_rows.push_back(i);
  if (found.zero_rows.empty()) return found;
  found.weights.assign(weights.begin(), weights.end());
  if (weights.empty()) found.weights.assign(static_cast<std::size_t>(rows.rows()), 1.0);
  for (const index_t i : found.zero_rows) found.weights[static_cast<std::size_t>(i)] = 0;
  return found;
}

void check_finite(const Rows& rows) {
  const auto [row, column] = rows.first_not_finite(0, rows.rows());
  if (row >= 0)
    throw Error(Errc::invalid_argument, "the element in row " + std::to_string(row) + ", column " +
                                            std::to_string(column) + " (counted from 0) is NaN or infinite");
}

void check_weights(const Rows& rows, std::span<const double> weights) {
  if (weights.empty()) return;
  if (static_cast<index_t>(weights.size()) != rows.rows())
    throw Error(Errc::invalid_argument, "there are " + std::to_string(weights.size()) + " weights for " +
                                            std::to_string(rows.rows()) + " points");
  bool positive = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
      throw Error(Errc::invalid_argument, "the weight of point " + std::to_string(i) +
                                              " (counted from 0) is negative, NaN or infinite");
    positive = positive || weights[i] > 0;
  }
  expects(positive, "all weights are zero: at least one point must have a positive weight");
}

void check_centers(const Rows& rows, HostView<const double> centers) {
  if (centers.cols() != rows.cols())
    throw Error(Errc::invalid_argument, "the centres have " + std::to_string(centers.cols()) +
                                            " features but the points have " + std::to_string(rows.cols()));
  for (index_t m = 0; m < centers.rows(); ++m)
    for (index_t j = 0; j < centers.cols(); ++j)
      if (!std::isfinite(centers(m, j)))
        throw Error(Errc::invalid_argument, "centre " + std::to_string(m) +
                                                " (counted from 0) has a NaN or "
                                                "infinite coordinate");
}

Matrix<double> usable_centers(const Rows& rows, HostView<const double> centers, KMeansMetric metric) {
  check_centers(rows, centers);
  auto copy = Matrix<double>::copy_of(centers);
  if (metric == KMeansMetric::cosine && normalise(copy.view()) > 0)
    throw Error(Errc::invalid_argument,
                "a centre is zero and has no direction, which the cosine metric needs");
  return copy;
}

void check_sizes(const Rows& rows, const KMeansOptions& o) {
  const auto throw_unless = [](bool condition, const std::string& sentence) {
    if (!condition) throw Error(Errc::invalid_argument, sentence);
  };
  throw_unless(rows.rows() >= 1, "there are no points to cluster");
  throw_unless(rows.cols() >= 1, "the points have no features (columns)");
  throw_unless(o.clusters >= 1, "the number of clusters must be at least 1");
  throw_unless(o.clusters <= rows.rows(), "the number of clusters (" + std::to_string(o.clusters) +
                                              ") is larger than the number of points (" +
                                              std::to_string(rows.rows()) + ")");
  throw_unless(o.n_init >= 1, "the number of restarts (n_init) must be at least 1");
  throw_unless(o.max_iter >= 1, "the number of iterations (max_iter) must be at least 1");
  throw_unless(o.tol >= 0, "the tolerance must not be negative");
  check_weights(rows, o.weights);
  if (o.init != KMeansInit::given) return;
  throw_unless(o.centers.rows() == o.clusters, "there are " + std::to_string(o.centers.rows()) +
                                                   " given centres for " + std::to_string(o.clusters) +
                                                   " clusters");
}

double squared_shift_limit(const KMeansOptions& o, const ColumnMoments& moments) {
  switch (o.tolerance) {
    case KMeansTolerance::absolute:
      return o.tol;
    case KMeansTolerance::labels:
      return -1;
    case KMeansTolerance::relative:
      break;
  }
  double sum = 0;
  for (const double v : moments.variance) sum += v;
  return o.tol * (sum / static_cast<double>(moments.variance.size()));
}

std::vector<index_t> sizes_of(std::span<const std::int32_t> labels, index_t k) {
  std::vector<index_t> sizes(static_cast<std::size_t>(k));
  for (const std::int32_t label : labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes;
}

Matrix<double> first_centers(const Problem& p, const KMeansOptions& o, int run, int runs) {
  const Chosen chosen = [&](index_t count) {
    if (o.on_progress && !o.on_progress({run, runs, 0, count, 0, 0}))
      throw Error(Errc::interrupted, "stopped while the first centres were chosen");
  };
  const auto stream = static_cast<std::uint64_t>(run) << 8;
  Matrix<double> centers;
  switch (o.init) {
    case KMeansInit::plus_plus:
      centers = seed_plus_plus(p, o.seed, stream, {}, chosen);
      break;
    case KMeansInit::parallel:
      centers = seed_parallel(p, o.seed, stream, chosen);
      break;
    case KMeansInit::random:
      centers = seed_random(p, o.seed, stream);
      break;
    case KMeansInit::given:
      return usable_centers(p.rows, o.centers, o.metric);
  }
  if (o.metric == KMeansMetric::cosine) normalise(centers.view());
  return centers;
}

}  // namespace

KMeansResult kmeans(const Context& ctx, const Rows& rows, const KMeansOptions& o) {
  check_sizes(rows, o);
  if (o.init == KMeansInit::given) check_centers(rows, o.centers);
  KMeansResult result;
  Directions normal;
  if (o.metric == KMeansMetric::cosine) {
    check_finite(rows);
    normal = directions(ctx, rows, o.weights);
    result.zero_rows = static_cast<index_t>(normal.zero_rows.size());
    if (result.zero_rows > 0) {
      result.notes.push_back(
          std::to_string(result.zero_rows) +
          " points are zero and have no direction: they are in cluster 0 and weigh nothing");
      expects(
          std::any_of(normal.weights.begin(), normal.weights.end(), [](double w) { return w > 0; }),
          "all points (of positive weight) are zero and have no direction, which the cosine metric needs");
    }
  }
  const Rows points = rows.scaled(normal.scale);
  const std::span<const double> weights = normal.weights_or(o.weights);
  const Problem problem{ctx, points, column_moments(ctx, points), weights, o.clusters, normal.zero_rows};

  int runs = o.n_init;
  if (o.init == KMeansInit::given && runs > 1) {
    result.notes.push_back("the given centres lead to one result: only one of " + std::to_string(runs) +
                           " restarts (n_init) was made");
    runs = 1;
  }
  for (int run = 0; run < runs; ++run) {
    const LloydControl control{o.max_iter,
                               squared_shift_limit(o, problem.moments),
                               o.metric == KMeansMetric::cosine,
                               o.bounds,
                               run,
                               runs,
                               &o.on_progress};
    LloydRun found;
    try {
      found = lloyd(problem, first_centers(problem, o, run, runs), control);
    } catch (const Error& e) {
      if (e.code() != Errc::interrupted || run == 0) throw;
      result.stop = KMeansStop::interrupted;  // the best of the restarts before is what there is
      break;
    }
    const double inertia = ts::inertia(ctx, points, found.centers.cview(), found.labels, weights);
    result.rescored += found.rescored;
    result.skipped += found.skipped;
    const KMeansStop stop = found.stop;
    if (run == 0 || inertia < result.inertia) {
      result.labels = std::move(found.labels);
      result.centers = std::move(found.centers);
      result.inertia = inertia;
      result.n_iter = found.n_iter;
      result.relocated = found.relocated;
      result.stop = stop;
      result.run = run;
    }
    if (stop == KMeansStop::interrupted) {
      result.stop = stop;
      break;
    }
  }
  result.sizes = sizes_of(result.labels, o.clusters);
  result.distinct = o.clusters - std::count(result.sizes.begin(), result.sizes.end(), index_t{0});
  if (result.distinct < o.clusters)
    result.notes.push_back("distinct clusters (" + std::to_string(result.distinct) +
                           ") found smaller than n_clusters (" + std::to_string(o.clusters) +
                           "): there may be fewer distinct points than that");
  return result;
}

KMeansPrediction predict(const Context& ctx, const Rows& rows, HostView<const double> centers,
                         KMeansMetric metric, std::span<const double> weights) {
  expects(centers.rows() >= 1, "there are no centres to predict with");
  const Matrix<double> usable = usable_centers(rows, centers, metric);
  check_weights(rows, weights);
  check_finite(rows);
  KMeansPrediction result;
  Directions normal;
  if (metric == KMeansMetric::cosine) normal = directions(ctx, rows, weights);
  result.zero_rows = static_cast<index_t>(normal.zero_rows.size());
  const Rows points = rows.scaled(normal.scale);
  result.labels.assign(static_cast<std::size_t>(rows.rows()), -1);
  const AssignStats stats = assign(ctx, points, column_moments(ctx, points), usable.cview(), Scores::float32,
                                   result.labels, {}, nullptr, nullptr);
  result.rescored = stats.rescored;
  for (const index_t i : normal.zero_rows) result.labels[static_cast<std::size_t>(i)] = 0;
  result.inertia = inertia(ctx, points, usable.cview(), result.labels, normal.weights_or(weights));
  result.sizes = sizes_of(result.labels, centers.rows());
  return result;
}

index_t verify(const Context& ctx, const Rows& rows, HostView<const double> centers,
               std::span<const std::int32_t> labels, KMeansMetric metric) {
  const Matrix<double> usable = usable_centers(rows, centers, metric);
  Directions normal;
  if (metric == KMeansMetric::cosine) normal = directions(ctx, rows, {});
  return count_misassigned(ctx, rows.scaled(normal.scale), usable.cview(), labels);
}

Matrix<double> transform(const Context& ctx, const Rows& rows, HostView<const double> centers,
                         KMeansMetric metric) {
  const Matrix<double> usable = usable_centers(rows, centers, metric);
  check_finite(rows);
  Directions normal;
  if (metric == KMeansMetric::cosine) normal = directions(ctx, rows, {});
  Matrix<double> out(rows.rows(), centers.rows());
  distances(ctx, rows.scaled(normal.scale), usable.cview(), out.view());
  return out;
}

}  // namespace ts::solvers
