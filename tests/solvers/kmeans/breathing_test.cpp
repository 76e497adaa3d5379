// The default run on small data, whose centres breathe.
#include "tallskinny/tests/solvers/kmeans/ranks.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;
using namespace ts::test;

namespace {

KMeansOptions breathing(index_t k, std::uint64_t seed) { return {.clusters = k, .n_init = 0, .seed = seed}; }

Matrix<double> blobs(index_t n, index_t k) {
  return generators::blobs<double>(generators::Blobs(n, 2, k, 1.0, 20, 0, 3));
}

/// The least inertia of k clusters of points in ascending order, which are intervals (Wang, Song 2011).
double least_inertia(const Matrix<double>& x, index_t k) {
  const auto n = static_cast<std::size_t>(x.rows());
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  best[0] = 0;
  for (index_t clusters = 0; clusters < k; ++clusters) {
    std::vector<double> next(n + 1, std::numeric_limits<double>::infinity());
    for (std::size_t begin = 0; begin < n; ++begin) {
      double mean = 0, inertia = 0;
      for (std::size_t end = begin + 1; end <= n; ++end) {
        const double from_mean = x.data()[end - 1] - mean;
        mean += from_mean / static_cast<double>(end - begin);
        inertia += from_mean * (x.data()[end - 1] - mean);
        next[end] = std::min(next[end], best[begin] + inertia);
      }
    }
    best = std::move(next);
  }
  return best[n];
}

}  // namespace

TEST_CASE("centres breathe on small data only", "[kmeans]") {
  CHECK(breathing_pays(2000, 2, 20));
  CHECK_FALSE(breathing_pays(100000, 16, 64));
  CHECK_FALSE(breathing_pays(1 << 15, 16, 64));
  CHECK_FALSE(breathing_pays(100, 2, 1));
  CHECK_FALSE(breathing_pays(100, 2, 100));
}

TEST_CASE("centres that breathe find the optimum of points on a line", "[kmeans]") {
  constexpr index_t k = 15;
  Matrix<double> x(150, 1);
  const Random random(5);
  for (index_t i = 0; i < x.rows(); ++i)
    x(i, 0) = 5 * static_cast<double>(i % k) + random.normal(static_cast<std::uint64_t>(i));
  std::sort(x.data(), x.data() + x.rows());
  const double least = least_inertia(x, k);
  int missed_by_one = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    KMeansOptions o = breathing(k, seed);
    o.tolerance = KMeansTolerance::labels;
    const KMeansResult found = solvers::kmeans({}, Rows(x.cview()), o);
    CHECK_THAT(found.inertia, Catch::Matchers::WithinRel(least, test::allowed::nine_digits));
    o.n_init = 1;
    missed_by_one += solvers::kmeans({}, Rows(x.cview()), o).inertia > 1.01 * least;
  }
  CHECK(missed_by_one > 0);
}

TEST_CASE("centres that breathe are never worse than one start, and as good as ten", "[kmeans]") {
  const auto x = blobs(2000, 20);
  const CsrMatrix<double> sparse = to_sparse(x);
  std::vector<double> weights;
  for (index_t i = 0; i < x.rows(); ++i) weights.push_back(static_cast<double>(i % 4));
  const Rows rows = GENERATE(false, true) ? Rows(sparse.view()) : Rows(x.cview());
  KMeansOptions o{.clusters = 20, .init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel)};
  if (GENERATE(false, true)) o.weights = weights;
  o.metric = GENERATE(KMeansMetric::euclidean, KMeansMetric::cosine);
  double of_ten = 0, of_default = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    o.seed = seed, o.n_init = 1;
    const double of_one = solvers::kmeans({}, rows, o).inertia;
    o.n_init = 10, of_ten += solvers::kmeans({}, rows, o).inertia;
    o.n_init = 0;
    const KMeansResult found = solvers::kmeans({}, rows, o);
    CHECK(found.inertia <= of_one * (1 + test::allowed::nine_digits));
    CHECK(found.converged());
    CHECK(verify({}, rows, found.centers.cview(), found.labels, o.metric) == 0);
    if (o.metric == KMeansMetric::euclidean) check_consistent(rows, found, o.weights);
    of_default += found.inertia;
  }
  CHECK(of_default <= of_ten * 1.001);
}

TEST_CASE("the bits of centres that breathe depend on seeds alone", "[kmeans][ranks]") {
  constexpr index_t n = 9000;
  const auto x = blobs(n, 25);
  std::vector<double> weights;
  if (GENERATE(false, true))
    for (index_t i = 0; i < n; ++i) weights.push_back(static_cast<double>(i % 4) / 3);
  KMeansOptions o = breathing(25, 3);
  o.metric = GENERATE(KMeansMetric::euclidean, KMeansMetric::cosine), o.weights = weights;
  const KMeansResult one = solvers::kmeans(on_threads(1), Rows(x.cview()), o);
  for (const int threads : {2, 5}) CHECK(same_bits(solvers::kmeans(on_threads(threads), Rows(x.cview()), o), one));
  CHECK(same_bits(solvers::kmeans({}, InBlocks(Rows(x.cview())), o), one));
  ranks::on_ranks(3, n, [&](const Context& ctx) {
    KMeansOptions own = o;
    own.weights = ranks::here_of(ctx, weights);
    const KMeansResult here = solvers::kmeans(ctx, ranks::here_of(ctx, Rows(x.cview())), own);
    const std::lock_guard one_thread(ranks::catch_is_for_one_thread);
    CHECK(here.inertia == one.inertia);
    CHECK(std::ranges::equal(here.labels, ranks::here_of(ctx, one.labels)));
  });
  o.seed = 4;
  CHECK_FALSE(solvers::kmeans({}, Rows(x.cview()), o).labels == one.labels);
}

TEST_CASE("centres breathe where rows coincide, weigh nothing or have no direction", "[kmeans]") {
  Matrix<double> x(50, 2);
  for (index_t i = 0; i < 50; ++i) x(i, 0) = static_cast<double>(i % 4), x(i, 1) = i % 4 == 0 ? 0 : 1;
  CHECK(solvers::kmeans({}, Rows(x.cview()), breathing(4, 1)).inertia == 0);
  CHECK(solvers::kmeans({}, Rows(x.cview()), breathing(7, 1)).distinct == 4);
  CHECK(solvers::kmeans({}, Rows(x.cview()), breathing(49, 1)).distinct == 4);
  KMeansOptions o = breathing(3, 1);
  o.metric = KMeansMetric::cosine;
  const KMeansResult directions = solvers::kmeans({}, Rows(x.cview()), o);
  CHECK(directions.zero_rows == 13);
  CHECK(directions.inertia < test::allowed::nine_digits);
  const std::vector<double> weights = [] {
    std::vector<double> w(50);
    w[1] = w[2] = w[3] = 1;
    return w;
  }();
  o.metric = KMeansMetric::euclidean, o.weights = weights;
  CHECK(solvers::kmeans({}, Rows(x.cview()), o).inertia == 0);
}

TEST_CASE("seeding of centres that breathe can be stopped", "[kmeans]") {
  const auto x = blobs(500, 8);
  KMeansOptions o = breathing(8, 1);
  int told = 0, iterations = 0;
  o.on_progress = [&](const KMeansProgress& now) {
    CHECK(now.chosen <= now.clusters);
    told += now.iteration == 0, iterations += now.iteration > 0;
    return true;
  };
  const KMeansResult whole = solvers::kmeans({}, Rows(x.cview()), o);
  CHECK(iterations == whole.n_iter);
  const int all = told;
  REQUIRE(all > 5);
  told = 0;
  o.on_progress = [&](const KMeansProgress&) { return ++told < all; };
  CHECK_THROWS_AS(solvers::kmeans({}, Rows(x.cview()), o), Error);
}
