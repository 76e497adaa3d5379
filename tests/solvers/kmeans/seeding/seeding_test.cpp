// First centres of many rows, which are chosen on samples of them.
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/tests/solvers/kmeans/ranks.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;
using namespace ts::test;

namespace {

constexpr index_t many = 66000;  // from 2^16 on, k-means++ looks at samples

KMeansResult first_centres(const Rows& x, KMeansInit init, index_t k, std::span<const double> weights = {},
                           int threads = 0) {
  Context ctx{.threads = threads};
  KMeansOptions o{.clusters = k, .init = init, .max_iter = 1, .weights = weights, .seed = 11};
  return solvers::kmeans(ctx, x, o);
}

ClusterTraits traits_of_rows(const Rows& rows, const Matrix<double>& centers, const Labels& labels,
                             KMeansMetric metric = KMeansMetric::euclidean, index_t most = 3) {
  return traits_of({}, RowsInMemory(rows), centers.cview(), labels, metric, most);
}

double rand_index(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  return solvers::adjusted_rand_index(Context{}, a, b, 4, 5);
}

}  // namespace

TEMPLATE_TEST_CASE("seeding many rows finds every blob", "[kmeans]", float, double) {
  const index_t k = 60;
  const KMeansInit init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel);
  const generators::Blobs set(many, 3, k, 0.01, 50, 0, 3);
  const auto x = generators::blobs<TestType>(set);
  const KMeansResult r = first_centres(Rows(x.cview()), init, k);
  CHECK(r.distinct == k);
  CHECK(r.inertia == Approx(many * 3 * 1e-4).epsilon(test::allowed::sample));
  const KMeansResult alone = first_centres(Rows(x.cview()), init, k, {}, 1);
  CHECK(alone.labels == r.labels);
}

TEST_CASE("seeding many rows finds far rows however few, nearer ones beside them, and none that weighs nothing",
          "[kmeans]") {
  // Every ten of the last rows are a thousand times as far out as those before.
  const index_t far = 40, k = far + 1;
  Matrix<double> x(many, 2);
  std::vector<double> weights(static_cast<std::size_t>(many), 1.0);
  for (index_t i = 0; i < many; ++i) {
    const index_t out = i - (many - far);
    const double angle = 0.1 * static_cast<double>(i);
    const index_t ring = out / 10;
    const double radius = out < 0 ? 1e-6 : std::pow(1000.0, static_cast<double>(ring));
    x(i, 0) = radius * std::cos(angle), x(i, 1) = radius * std::sin(angle);
  }
  const KMeansResult r = first_centres(Rows(x.cview()), KMeansInit::plus_plus, k, weights);
  CHECK(r.inertia < test::allowed::six_digits);
  weights[static_cast<std::size_t>(many - 1)] = 0;
  const KMeansResult without = first_centres(Rows(x.cview()), KMeansInit::plus_plus, k - 1, weights);
  CHECK(without.inertia < test::allowed::six_digits);
}

TEST_CASE("seeding many rows of which few are distinct takes each", "[kmeans]") {
  Matrix<float> x(many, 1);
  for (index_t i = 0; i < many; ++i) x(i, 0) = static_cast<float>(i % 37);
  for (const KMeansInit init : {KMeansInit::plus_plus, KMeansInit::parallel}) {
    CHECK(first_centres(Rows(x.cview()), init, 37).inertia == 0);
    CHECK(first_centres(Rows(x.cview()), init, 40).distinct == 37);
  }
}

TEST_CASE("fewer rows than samples have for a centre are prepared on a GPU", "[kmeans][cuda]") {
  const Context ctx = test::rehearsing_context(cuda::typical_device("sm_90a"));
  KMeansOptions o{.init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel)};
  for (const index_t rows : {3, 9, 16, 17})
    for (const DType type : {DType::float32, DType::float64})
      CHECK_NOTHROW(prepare_kmeans(ctx, type, rows, 1, 3, o, nullptr));
}

TEST_CASE("what first centres need on a GPU is compiled ahead, whatever lies where results come to", "[kmeans][cuda]") {
  const index_t d = 512, k = 1024;
  const Context ctx = test::rehearsing_context(cuda::typical_device("sm_90a"));
  const std::vector<double> shift(static_cast<std::size_t>(d), 0.013), one(static_cast<std::size_t>(d), 1.0);
  const ColumnMoments moments{shift, one, shift, one};
  KMeansOptions o{.init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel)};
  prepare_kmeans(ctx, DType::float32, 1 << 20, d, k, o, &moments);
  const auto& kernels = ctx.stream.rehearsal()->kernels;
  CHECK(std::any_of(kernels.begin(), kernels.end(),
                    [](const cuda::KernelPlan& kernel) { return kernel.family == "seed_rounds"; }));
}

TEST_CASE("traits, by hand", "[kmeans][traits]") {
  // The second feature does not vary; its mean is rounded.
  const auto x = matrix(6, 2, {0, 0.1, 1, 0.1, 5, 0.1, 10, 0.1, 11, 0.1, 12, 0.1}),
             c = matrix(3, 2, {1, 0.1, 11, 0.1, 99, 0.1});
  const Labels labels = {0, 0, 0, 1, 1, 1};
  const double mean = 39.0 / 6, deviation = std::sqrt((0 + 1 + 25 + 100 + 121 + 144) / 6.0 - mean * mean);
  for (const bool sparse : {false, true}) {
    const auto s = to_sparse(x);
    const ClusterTraits t = traits_of_rows(sparse ? Rows(s.view()) : Rows(x.cview()), c, labels);
    REQUIRE(t.deviations.rows() == 3);
    CHECK(t.deviations(0, 0) == Approx((2 - mean) / deviation).epsilon(allowed::many_steps));
    CHECK(t.deviations(1, 0) == Approx((11 - mean) / deviation).epsilon(allowed::many_steps));
    CHECK(t.deviations(0, 1) == 0);
    CHECK(std::isnan(t.deviations(2, 0)));
    CHECK(t.nearest == std::vector<std::vector<index_t>>{{1, 0, 2}, {4, 3, 5}, {}});
  }
  CHECK(traits_of_rows(Rows(x.cview()), c, labels, KMeansMetric::euclidean, 1).nearest[1] == std::vector<index_t>{4});
  CHECK(traits_of_rows(Rows(x.cview()), c, labels, KMeansMetric::euclidean, 0).nearest[1].empty());
  CHECK_THROWS_AS(traits_of_rows(Rows(x.cview()), c, {0, 0, 0, 1, 1, 3}), Error);
  CHECK_THROWS_AS(traits_of_rows(Rows(x.cview()), c, {0}), Error);
}

TEST_CASE("traits for cosine are those of directions", "[kmeans][traits]") {
  const auto x = matrix(4, 2, {3, 0, 500, 0, 0, 2, 0, 0}), c = matrix(2, 2, {1, 0, 0, 1});
  const ClusterTraits t = traits_of_rows(Rows(x.cview()), c, {0, 0, 1, 0}, KMeansMetric::cosine);
  CHECK(t.nearest == std::vector<std::vector<index_t>>{{0, 1, 3}, {2}});
  // The row without a direction counts for the mean of all, 1/2, not for that of its cluster.
  CHECK(t.deviations(0, 0) == Approx(1).epsilon(allowed::many_steps));
  CHECK(t.deviations(1, 0) == Approx(-1).epsilon(allowed::many_steps));
}

TEST_CASE("traits are the same on any number of ranks", "[kmeans][traits][ranks]") {
  const Matrix<double> x = ranks::points();
  const auto c = matrix(3, 5, {0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 40, 40, 40, 40, 40});
  const Rows all(x.cview());
  const Labels labels = predict({}, all, c.view()).labels;
  const ClusterTraits one = traits_of_rows(all, c, labels);
  for (const index_t row : one.nearest[1]) CHECK(labels[static_cast<std::size_t>(row)] == 1);
  for (const int ranks : ranks::some_ranks)
    ranks::on_ranks(ranks, ranks::n, [&](const Context& ctx) {
      const RowsInMemory here(ranks::here_of(ctx, all));
      const ClusterTraits t = traits_of(ctx, here, c.cview(), ranks::here_of(ctx, labels));
      const std::scoped_lock lock(ranks::catch_is_for_one_thread);
      CHECK(t.nearest == one.nearest);
      CHECK(std::equal(t.deviations.data(), t.deviations.data() + 15, one.deviations.data()));
    });
}

TEST_CASE("the adjusted Rand index: equal clusters, numbers that do not matter, values of scikit-learn") {
  CHECK(rand_index({0, 0, 1, 2}, {0, 0, 1, 2}) == 1);
  CHECK(rand_index({0, 0, 1, 2}, {4, 4, 3, 0}) == 1);
  CHECK(rand_index({0, 0, 0}, {1, 1, 1}) == 1);
  CHECK(rand_index({}, {}) == 1);
  // sklearn.metrics.adjusted_rand_score
  CHECK(rand_index({0, 0, 1, 1}, {0, 0, 1, 2}) == Approx(0.5714285714285714));
  CHECK(rand_index({0, 0, 1, 1}, {0, 1, 0, 1}) == Approx(-0.5));
  CHECK(rand_index({0, 0, 0, 0}, {0, 1, 2, 3}) == 0);
  CHECK_THROWS_AS(rand_index({0}, {5}), Error);
  CHECK_THROWS_AS(rand_index({0, 1}, {0}), Error);
}
