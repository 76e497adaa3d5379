#include "tallskinny/solvers/kmeans/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/runtime/stopwatch.hpp"
#include "tallskinny/solvers/kmeans/directions_detail.hpp"
#include "tallskinny/solvers/kmeans/sample_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

namespace ts::inline v0::solvers {

using namespace kmeans_detail;

namespace {

constexpr std::uint64_t compared = 202;  // a stream beside those of restarts
constexpr index_t few_rows = index_t{1} << 12, most_rows = index_t{1} << 16, least_clusters = 32;

/// What is clustered to compare.
struct Size {
  index_t rows, clusters;
  bool others = false;  ///< as many other rows judge the centres, too
};

Size size_of(const KMeansOptions& o, index_t n) noexcept {
  constexpr index_t part = 8, rows_of_cluster = 10, most_clusters = 1 << 12;
  if (n <= few_rows) return {n, o.clusters};
  if (o.algorithm == KMeansAlgorithm::two_level && !takes_sample(o, n, o.clusters)) {
    const index_t each = std::min(rows_of_cluster, n / o.clusters);
    const index_t clusters = std::min({o.clusters, most_clusters, n / (2 * each)});
    return {std::max(each * clusters, few_rows / 2), clusters, true};
  }
  const index_t rows = std::clamp(n / part, few_rows, most_rows);
  const double scaled = static_cast<double>(rows) / static_cast<double>(n) * static_cast<double>(o.clusters);
  return {rows, std::max(std::min(o.clusters, least_clusters), static_cast<index_t>(std::lround(scaled)))};
}

KMeansOptions exact_of(const KMeansOptions& quick) {
  KMeansOptions o = quick;
  o.algorithm = KMeansAlgorithm::lloyd, o.sample = 0;
  if (o.tolerance == KMeansTolerance::changed) o.tolerance = KMeansOptions{}.tolerance, o.tol = KMeansOptions{}.tol;
  return o;
}

/// `count` of given centres, if any are.
Matrix<double> some_of(const KMeansOptions& o, index_t count) {
  if (o.init != KMeansInit::given) return {};
  Matrix<double> centers(count, o.centers.cols());
  const std::vector<index_t> numbers = some_rows(o.centers.rows(), count, Random(o.seed, compared + 1));
  for (index_t m = 0; m < count; ++m)
    for (index_t j = 0; j < centers.cols(); ++j) centers(m, j) = o.centers(numbers[at(m)], j);
  return centers;
}

}  // namespace

bool is_quick(const KMeansOptions& o, index_t rows) noexcept {
  return o.algorithm == KMeansAlgorithm::mini_batch || o.algorithm == KMeansAlgorithm::two_level ||
         takes_sample(o, rows, o.clusters) ||
         (o.algorithm == KMeansAlgorithm::lloyd && o.tolerance == KMeansTolerance::changed);
}

index_t compared_rows(const KMeansOptions& o, index_t rows) noexcept {
  if (rows < 1 || o.clusters < 1 || o.clusters > rows || !is_quick(o, rows)) return 0;
  const Size size = size_of(o, rows);
  return size.others ? 2 * size.rows : size.rows;
}

KMeansComparison compare_with_exact(const Context& ctx, const RowSource& rows, const KMeansOptions& o) {
  const UseHostMemory use(ctx.host_memory);
  const Stopwatch watch;
  const Directions normal(ctx, rows, o.weights, o.metric);  // rows without one weigh nothing
  KMeansProblem p{ctx, rows, {}, normal.weights_or(o.weights)};
  p.weighted_elsewhere = normal.all_zero_rows > 0 || any_rank(ctx, !o.weights.empty());
  const index_t drawn = compared_rows(o, p.all_rows());
  if (drawn == 0) return {};
  const Size size = size_of(o, p.all_rows());
  std::vector<index_t> numbers, others;
  for (const index_t i : drawn_rows(p, Random(o.seed, compared), drawn))
    (size.others && others.size() < numbers.size() ? others : numbers).push_back(i);
  KMeansComparison found{.rows = std::ssize(numbers), .clusters = std::min(size.clusters, std::ssize(numbers))};
  const Sample sample(p, numbers);
  std::optional<Sample> unseen;
  if (!others.empty()) unseen.emplace(p, others);
  const Matrix<double> centers = some_of(o, found.clusters);
  KMeansOptions quick = o;
  quick.clusters = found.clusters, quick.centers = centers.cview(), quick.weights = sample.weights();
  quick.batch = std::max<index_t>(1, std::lround(static_cast<double>(o.batch) * static_cast<double>(found.clusters) /
                                                 static_cast<double>(o.clusters)));
  quick.on_state = {}, quick.resume = nullptr;
  const auto inertia_by = [&](const KMeansOptions& mode) {
    const KMeansResult r = kmeans(sample.context(), sample.rows(), mode);
    if (r.stop == KMeansStop::interrupted) throw Error(Errc::interrupted, "stopped while modes were compared");
    if (!unseen) return r.inertia;
    const RowsInMemory to_judge(unseen->rows());
    return r.inertia + predict(unseen->context(), to_judge, r.centers.cview(), o.metric, unseen->weights()).inertia;
  };
  try {
    found.inertia = inertia_by(quick);
    found.exact_inertia = inertia_by(exact_of(quick));
  } catch (const Error& e) {
    if (e.code() != Errc::interrupted) throw;
    return {};
  }
  found.seconds = watch.seconds();
  return found;
}

}  // namespace ts::inline v0::solvers
