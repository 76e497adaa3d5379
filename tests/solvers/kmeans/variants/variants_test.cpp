// Mini-batch, bisecting and balanced clusterings, measures, rows that come in blocks, and runs that are
// resumed.
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

Matrix<double> column(std::initializer_list<double> values) {
  return matrix(static_cast<index_t>(values.size()), 1, values);
}

bool same_partition(const Labels& a, const Labels& b) { return adjusted_rand_index(a, b) == 1; }

KMeansMeasures measure_of(const Matrix<double>& x, const Matrix<double>& centers, const Labels& labels,
                          std::span<const double> weights = {}) {
  return measure({}, RowsInMemory(Rows(x.cview())), centers.cview(), labels, KMeansMetric::euclidean, weights);
}

}  // namespace

TEST_CASE("measures, by hand", "[kmeans][measures]") {
  const auto x = column({0, 1, 10, 11}), c = column({0.5, 10.5});
  const KMeansMeasures m = measure_of(x, c, {0, 0, 1, 1});
  CHECK(m.simplified_silhouette == Approx((10.0 / 10.5 + 9.0 / 9.5) / 2).epsilon(test::allowed::seven_digits));
  CHECK(m.davies_bouldin == Approx(0.1).epsilon(test::allowed::many_steps));
  CHECK(m.calinski_harabasz == Approx(200).epsilon(test::allowed::many_steps));
  // A weight is a number of copies; a cluster of one point has no silhouette.
  const std::vector<double> weights = {1, 2, 1, 1};
  const KMeansMeasures w = measure_of(x, c, {0, 0, 1, 1}, weights);
  const KMeansMeasures copies = measure_of(column({0, 1, 1, 10, 11}), c, {0, 0, 0, 1, 1});
  CHECK(w.simplified_silhouette == Approx(copies.simplified_silhouette).epsilon(test::allowed::nine_digits));
  CHECK(w.davies_bouldin == Approx(copies.davies_bouldin).epsilon(test::allowed::many_steps));
  CHECK(w.calinski_harabasz == Approx(copies.calinski_harabasz).epsilon(test::allowed::many_steps));
  CHECK(measure_of(column({0, 1, 10}), column({0.5, 10}), {0, 0, 1}).simplified_silhouette ==
        Approx((9.5 / 10 + 8.5 / 9) / 3).epsilon(test::allowed::seven_digits));
  const KMeansMeasures one = measure_of(x, column({5.5}), {0, 0, 0, 0});
  CHECK(std::isnan(one.simplified_silhouette));
  CHECK(std::isnan(one.calinski_harabasz));
  CHECK_THROWS_AS(measure_of(x, c, {0, 0, 1, 2}), Error);
  CHECK_THROWS_AS(measure_of(x, c, {0, 0, 1}), Error);
}

TEST_CASE("measures are those of scikit-learn", "[kmeans][measures]") {
  Matrix<double> x(60, 3), means = Matrix<double>::zeros(3, 3);
  Labels labels;
  for (index_t i = 0; i < 60; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % 3));
    for (index_t j = 0; j < 3; ++j) {
      x(i, j) = std::sin(0.7 * static_cast<double>(i * (j + 1))) +
                static_cast<double>(i % 3) * (static_cast<double>(j) + 0.5);
      means(i % 3, j) += x(i, j) / 20;
    }
  }
  const KMeansMeasures m = measure_of(x, means, labels);
  CHECK(m.davies_bouldin ==
        Approx(0.8965860274189662).epsilon(test::allowed::many_steps));  // davies_bouldin_score, 1.2.1
  CHECK(m.calinski_harabasz ==
        Approx(132.80772973891067).epsilon(test::allowed::many_steps));  // calinski_harabasz_score
  CHECK(m.simplified_silhouette ==
        Approx(0.5057921409859987).epsilon(test::allowed::six_digits));  // by its definition in NumPy
}

TEST_CASE("mini-batch finds blobs, the same for any number of threads", "[kmeans][variants]") {
  const generators::Blobs set(6000, 5, 6, 0.3, 10, 50, 2);
  const auto x = generators::blobs<float>(set);
  KMeansOptions o{.clusters = 6, .algorithm = KMeansAlgorithm::mini_batch, .batch = 256, .n_init = 3};
  const KMeansResult r = solvers::kmeans({}, Rows(x.view()), o);
  const Labels truth = set.labels();
  CHECK(same_partition(r.labels, truth));
  CHECK(r.converged());
  CHECK(verify({}, Rows(x.view()), r.centers.view(), r.labels) == 0);
  CHECK(same_bits(r, solvers::kmeans(on_threads(1), Rows(x.view()), o)));
  KMeansOptions full = o;
  full.algorithm = KMeansAlgorithm::lloyd;
  CHECK(r.inertia < 1.02 * solvers::kmeans({}, Rows(x.view()), full).inertia);
  std::vector<double> weights(6000, 1.0);
  for (std::size_t i = 0; i < 6000; ++i)
    if (truth[i] == 3) weights[i] = 0;
  o.weights = weights, o.clusters = 5;
  const KMeansResult five = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(five.inertia < 1.02 * r.inertia);  // the blob that weighs nothing has no centre
  o.metric = KMeansMetric::cosine;
  const KMeansResult sphere = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(verify({}, Rows(x.view()), sphere.centers.view(), sphere.labels, KMeansMetric::cosine) == 0);
}

TEST_CASE("bisecting splits the worst cluster", "[kmeans][variants]") {
  const auto x = column({0, 1, 100, 101, 110, 111, 300, 301});
  KMeansOptions o{.clusters = 4, .algorithm = KMeansAlgorithm::bisecting};
  const KMeansResult four = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(four.inertia == Approx(2).epsilon(test::allowed::many_steps));
  CHECK(same_partition(four.labels, {0, 0, 1, 1, 2, 2, 3, 3}));
  o.clusters = 3;
  CHECK(same_partition(solvers::kmeans({}, Rows(x.view()), o).labels, {0, 0, 1, 1, 1, 1, 2, 2}));
  o.clusters = 1;
  CHECK(solvers::kmeans({}, Rows(x.view()), o).centers(0, 0) == 128);
  o.clusters = 8;
  CHECK(solvers::kmeans({}, Rows(x.view()), o).inertia == 0);
  const auto same = column({1, 1, 1, 2, 2, 2});
  o.clusters = 4;
  const KMeansResult few = solvers::kmeans({}, Rows(same.view()), o);
  CHECK(few.distinct == 2);
  CHECK(few.notes.size() == 1);

  const generators::Blobs set(900, 4, 7, 0.2, 10, 0, 6);
  const auto points = generators::blobs<double>(set);
  const auto sparse = to_sparse(points);
  o.clusters = 7;
  const KMeansResult dense = solvers::kmeans({}, Rows(points.view()), o),
                     csr = solvers::kmeans({}, Rows(sparse.view()), o);
  CHECK(same_partition(dense.labels, set.labels()));
  CHECK(dense.inertia == Approx(csr.inertia).epsilon(test::allowed::ten_digits));
  CHECK(verify({}, Rows(points.view()), dense.centers.view(), dense.labels) == 0);
  o.init = KMeansInit::given;
  CHECK_THROWS_AS(solvers::kmeans({}, Rows(points.view()), o), Error);
}

TEST_CASE("balanced clusters differ by one point at most", "[kmeans][variants]") {
  const auto line = column({0, 1, 2, 3, 4, 100});
  KMeansOptions o{.clusters = 2, .algorithm = KMeansAlgorithm::balanced};
  const KMeansResult halves = solvers::kmeans({}, Rows(line.view()), o);
  CHECK(same_partition(halves.labels, {0, 0, 0, 1, 1, 1}));
  CHECK(halves.sizes == std::vector<index_t>{3, 3});

  const generators::Blobs set(500, 3, 3, 1, 5, 0, 4);
  const auto x = generators::blobs<float>(set);
  for (const index_t k : {1, 3, 7, 500}) {
    o.clusters = k;
    const KMeansResult r = solvers::kmeans({}, Rows(x.view()), o);
    const auto [least, most] = std::minmax_element(r.sizes.begin(), r.sizes.end());
    CHECK(*most - *least <= 1);
    CHECK(*most * k >= 500);
    CHECK(std::accumulate(r.sizes.begin(), r.sizes.end(), index_t{0}) == 500);
    CHECK(same_bits(r, solvers::kmeans(on_threads(1), Rows(x.view()), o)));
  }
  // Against all ways to halve ten points, about the centres found.
  const auto ten = generators::uniform<double>(10, 2, 5);
  o.clusters = 2, o.tol = 0;
  const KMeansResult r = solvers::kmeans({}, Rows(ten.view()), o);
  const auto distance = transform({}, Rows(ten.view()), r.centers.view());
  double least = 1e9;
  for (int set_bits = 0; set_bits < 1024; ++set_bits) {
    if (__builtin_popcount(static_cast<unsigned>(set_bits)) != 5) continue;
    double cost = 0;
    for (index_t i = 0; i < 10; ++i) cost += std::pow(distance(i, set_bits >> i & 1), 2);
    least = std::min(least, cost);
  }
  CHECK(r.inertia <= 1.002 * least);
}

TEST_CASE("balancing ends where all points coincide with centres that have too few places", "[kmeans][variants]") {
  Matrix<double> x(60, 1);
  for (index_t i = 0; i < 60; ++i) x(i, 0) = i < 45 ? 1.0 + static_cast<double>(i) : -1.0;
  KMeansOptions o{.clusters = 5, .algorithm = KMeansAlgorithm::balanced, .metric = KMeansMetric::cosine};
  const KMeansResult r = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(r.sizes == std::vector<index_t>(5, 12));
}

TEST_CASE("rows in blocks give the bits of rows in memory", "[kmeans][blocks]") {
  const KMeansInit init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel, KMeansInit::random);
  const KMeansMetric metric = GENERATE(KMeansMetric::euclidean, KMeansMetric::cosine);
  const auto x = generators::uniform<float>(3 * chunk_rows + 77, 3, 2);
  std::vector<double> weights(static_cast<std::size_t>(x.rows()));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 5) / 3;
  KMeansOptions o{.clusters = 7, .init = init, .n_init = 2, .max_iter = 6, .metric = metric, .weights = weights};
  const KMeansResult whole = solvers::kmeans({}, Rows(x.view()), o);
  const test::InBlocks blocks(Rows(x.view()), 2);
  CHECK(same_bits(whole, solvers::kmeans({}, blocks, o)));
  expect_same(predict({}, Rows(x.view()), whole.centers.view(), metric, weights),
              predict({}, blocks, whole.centers.view(), metric, weights));
  CHECK(verify({}, blocks, whole.centers.view(), whole.labels, metric) == 0);
  const auto ma = measure({}, RowsInMemory(Rows(x.view())), whole.centers.view(), whole.labels, metric, weights);
  const auto mb = measure({}, blocks, whole.centers.view(), whole.labels, metric, weights);
  CHECK(ma.simplified_silhouette == mb.simplified_silhouette);
  CHECK(ma.calinski_harabasz == mb.calinski_harabasz);
}

TEST_CASE("several numbers of clusters share the passes", "[kmeans][blocks]") {
  const auto x = generators::uniform<double>(5000, 2, 3);
  KMeansOptions o{.init = KMeansInit::random, .n_init = 2, .max_iter = 40, .tol = 0};
  const std::vector<index_t> counts = {2, 5, 9};
  const test::InBlocks blocks(Rows(x.view()), 1);
  const auto together = kmeans_of_each({}, blocks, o, counts);
  const int shared = blocks.passes;
  blocks.passes = 0;
  for (std::size_t q = 0; q < counts.size(); ++q) {
    o.clusters = counts[q];
    CHECK(same_bits(together[q], solvers::kmeans({}, blocks, o)));
  }
  CHECK(shared < blocks.passes);
  CHECK_THROWS_AS(kmeans_of_each({}, blocks, o, {}), Error);
}

TEST_CASE("a resumed run is the run that was never stopped", "[kmeans][state]") {
  const auto x = generators::uniform<float>(3000, 4, 2);
  KMeansOptions o{.clusters = 11, .init = KMeansInit::random, .n_init = 3, .max_iter = 25, .tol = 0};
  const KMeansResult straight = solvers::kmeans({}, Rows(x.view()), o);
  for (const auto& [run, iteration] : {std::pair{0, 1}, {1, 7}, {2, 20}}) {
    KMeansState kept;
    KMeansOptions stopping = o;
    stopping.on_state = [&, r = run, i = iteration](const auto& make) {
      KMeansState s = make();
      if (s.run == r && s.iteration <= i) kept = std::move(s);
    };
    CHECK(same_bits(straight, solvers::kmeans({}, Rows(x.view()), stopping)));
    REQUIRE(kept.labels.size() == 3000);
    KMeansOptions on = o;
    on.resume = &kept;
    CHECK(same_bits(straight, solvers::kmeans({}, Rows(x.view()), on)));
    on.clusters = 10;
    CHECK_THROWS_AS(solvers::kmeans({}, Rows(x.view()), on), Error);
  }
}

TEST_CASE("no state is ahead of what on_progress was told, and the last one is that at which it asked to stop",
          "[kmeans][state]") {
  const auto x = generators::uniform<float>(3000, 4, 2);
  KMeansOptions o{.clusters = 11, .max_iter = 25, .tol = 0};
  int told = 0, kept = 0;
  o.on_progress = [&told](const KMeansProgress& p) {
    told = p.iteration;
    return told < 7;
  };
  o.on_state = [&](const auto& make) {
    kept = make().iteration;
    CHECK(kept == told);
  };
  const KMeansResult r = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(r.stop == KMeansStop::interrupted);
  CHECK(kept == 7);
}

TEST_CASE("the inertia told in every iteration falls to that of the result", "[kmeans][state]") {
  const bool weighted = GENERATE(false, true);
  const KMeansMetric metric = GENERATE(KMeansMetric::euclidean, KMeansMetric::cosine);
  const auto x = generators::uniform<double>(2000, 3, 2);
  std::vector<double> weights(weighted ? 2000 : 0);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 1 + static_cast<double>(i % 4);
  KMeansOptions o{.clusters = 6, .tol = 0, .metric = metric, .weights = weights};
  std::vector<double> told;
  o.on_progress = [&told](const KMeansProgress& p) {
    if (p.iteration > 0) told.push_back(p.inertia);
    return true;
  };
  const KMeansResult r = solvers::kmeans({}, Rows(x.view()), o);
  REQUIRE(std::ssize(told) == r.n_iter);
  CHECK(std::is_sorted(told.rbegin(), told.rend()));
  CHECK(told.back() == Approx(r.inertia).epsilon(test::allowed::ten_digits));
}
