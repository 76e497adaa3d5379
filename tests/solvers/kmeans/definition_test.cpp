#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("one iteration is what the definition says", "[kmeans]") {
  const auto x = generators::uniform<double>(100, 5, 4);
  Matrix<double> init(5, 5);
  std::copy_n(x.data(), 25, init.data());
  KMeansOptions o = from_centers(init);
  o.max_iter = 1;
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  Matrix<double> expected = Matrix<double>::zeros(5, 5);
  std::vector<double> count(5);
  for (index_t i = 0; i < 100; ++i) {
    std::vector<double> distance(5);
    for (index_t m = 0; m < 5; ++m)
      for (index_t j = 0; j < 5; ++j) distance[static_cast<std::size_t>(m)] += std::pow(x(i, j) - init(m, j), 2);
    const auto m = std::min_element(distance.begin(), distance.end()) - distance.begin();
    ++count[static_cast<std::size_t>(m)];
    for (index_t j = 0; j < 5; ++j) expected(m, j) += x(i, j);
  }
  for (index_t m = 0; m < 5; ++m)
    for (index_t j = 0; j < 5; ++j)
      CHECK(r.centers(m, j) ==
            Approx(expected(m, j) / count[static_cast<std::size_t>(m)]).epsilon(100 * test::eps<double>));
  CHECK_FALSE(r.converged());
  check_consistent(Rows(x.view()), r);
}

TEST_CASE("tolerances mean what they say", "[kmeans]") {
  const auto x = generators::uniform<double>(5000, 10, 6);
  KMeansOptions o{.clusters = 5, .init = KMeansInit::random};
  SECTION("zero converges without reaching the limit") {
    o.tol = 0;
    const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
    CHECK(r.stop == KMeansStop::labels_unchanged);
    CHECK(r.n_iter < 300);
    check_consistent(Rows(x.view()), r);
    o.tolerance = KMeansTolerance::labels, o.tol = 1e9;
    CHECK(same_bits(r, test::kmeans({}, Rows(x.view()), o)));
  }
  SECTION("loose and strict leave consistent results") {
    for (const double tol : {1e-1, 1e-2, 1e-8, 1e-100}) {
      o.tol = tol;
      const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
      CHECK(r.converged());
      check_consistent(Rows(x.view()), r);
    }
  }
  SECTION("relative is absolute times the mean variance") {
    double variance = 0;
    for (index_t j = 0; j < 10; ++j) {
      double mean = 0, sum = 0;
      for (index_t i = 0; i < 5000; ++i) mean += x(i, j) / 5000;
      for (index_t i = 0; i < 5000; ++i) sum += (x(i, j) - mean) * (x(i, j) - mean) / 5000;
      variance += sum / 10;
    }
    o.tol = 1e-3;
    const KMeansResult relative = test::kmeans({}, Rows(x.view()), o);
    o.tolerance = KMeansTolerance::absolute, o.tol = 1e-3 * variance;
    CHECK(relative.stop == KMeansStop::tolerance);
    CHECK(same_bits(relative, test::kmeans({}, Rows(x.view()), o)));
  }
}

TEST_CASE("fitted centres are a fixed point", "[kmeans]") {
  const auto x = generators::uniform<float>(1000, 3, 8);
  KMeansOptions o{.clusters = 7, .tol = 0};
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  const KMeansResult again = test::kmeans({}, Rows(x.view()), from_centers(r.centers));
  CHECK(again.labels == r.labels);
  CHECK(again.inertia == r.inertia);
  CHECK(again.n_iter <= 2);
  const auto own = predict({}, Rows(r.centers.view()), r.centers.view());
  Labels numbers(7);
  std::iota(numbers.begin(), numbers.end(), 0);
  CHECK(own.labels == numbers);
  const auto table = transform({}, Rows(r.centers.view()), r.centers.view());
  for (index_t m = 0; m < 7; ++m) CHECK(table(m, m) == 0);
}

TEST_CASE("weights count rows", "[kmeans]") {
  const auto x = generators::uniform<double>(200, 4, 9);
  Matrix<double> init(4, 4);
  std::copy_n(x.data(), 16, init.data());
  KMeansOptions o = from_centers(init);
  std::vector<double> weights(200);
  for (std::size_t i = 0; i < 200; ++i) weights[i] = static_cast<double>(1 + i % 4);
  SECTION("a weight of w is w copies") {
    Matrix<double> repeated(500, 4);
    index_t at = 0;
    for (index_t i = 0; i < 200; ++i)
      for (index_t c = 0; c < 1 + i % 4; ++c) std::copy_n(x.data() + i * 4, 4, repeated.data() + 4 * at++);
    REQUIRE(at == 500);
    const KMeansResult r = test::kmeans({}, Rows(repeated.view()), o);
    o.weights = weights;
    const KMeansResult w = test::kmeans({}, Rows(x.view()), o);
    CHECK(w.inertia == Approx(r.inertia).epsilon(allowed::many_steps));
    for (index_t q = 0; q < 16; ++q)
      CHECK(w.centers.data()[q] == Approx(r.centers.data()[q]).epsilon(allowed::many_steps));
  }
  SECTION("unit weights are no weights, and a common factor changes inertia alone") {
    const KMeansResult none = test::kmeans({}, Rows(x.view()), o);
    const std::vector<double> ones(200, 1.0), threes(200, 3.0);
    o.weights = ones;
    CHECK(same_bits(none, test::kmeans({}, Rows(x.view()), o)));
    o.weights = threes;
    const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
    CHECK(r.labels == none.labels);
    CHECK(r.inertia == Approx(3 * none.inertia).epsilon(allowed::many_steps));
  }
  SECTION("points of weight zero have labels but no say") {
    for (std::size_t i = 100; i < 200; ++i) weights[i] = 0;
    for (const KMeansInit first : {KMeansInit::random, KMeansInit::plus_plus, KMeansInit::parallel}) {
      o.init = first, o.clusters = 6;
      o.weights = weights;
      const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
      CHECK(r.distinct == 6);
      o.clusters = 6;
      o.weights = std::span<const double>(weights).first(100);
      const KMeansResult half = test::kmeans({}, Rows(x.view().rows(0, 100)), o);
      if (first == KMeansInit::random) {
        CHECK(std::equal(half.labels.begin(), half.labels.end(), r.labels.begin()));
        CHECK(half.inertia == Approx(r.inertia).epsilon(allowed::many_steps));
      }
    }
  }
}

TEST_CASE("more restarts and more iterations do not worsen the result", "[kmeans]") {
  const auto x = generators::uniform<double>(400, 2, 10);
  KMeansOptions o{.clusters = 10, .init = KMeansInit::random};
  double before = std::numeric_limits<double>::infinity();
  for (const int n_init : {1, 5, 10}) {
    o.n_init = n_init;
    const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
    CHECK(r.inertia <= before);
    before = r.inertia;
  }
  o.n_init = 1, o.tol = 0, before = std::numeric_limits<double>::infinity();
  for (const int max_iter : {1, 2, 5, 50}) {
    o.max_iter = max_iter;
    const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
    CHECK(r.inertia <= before);
    before = r.inertia;
  }
}

TEST_CASE("dense, sparse and column-major rows agree", "[kmeans]") {
  auto x = generators::uniform<double>(500, 12, 12);
  for (index_t q = 0; q < 6000; ++q)
    if (x.data()[q] < 0.7) x.data()[q] = 0;
  const auto s = to_sparse(x);
  const auto columns = Matrix<double, Space::host, Layout::col_major>::copy_of(x.cview());
  KMeansOptions o{.clusters = 8, .init = KMeansInit::random};
  const KMeansResult a = test::kmeans({}, Rows(x.view()), o), b = test::kmeans({}, Rows(s.view()), o);
  CHECK(same_bits(a, test::kmeans({}, Rows(columns.view()), o)));
  CHECK(a.labels == b.labels);
  CHECK(a.inertia == Approx(b.inertia).epsilon(allowed::many_steps));
  CHECK(verify({}, Rows(s.view()), b.centers.view(), b.labels) == 0);
  o.init = KMeansInit::plus_plus;
  CHECK(test::kmeans({}, Rows(s.view()), o).distinct == 8);
}

TEMPLATE_TEST_CASE("bounds change nothing but the time", "[kmeans]", double, float, float16) {
  const index_t k = GENERATE(5, 260);  // from 256 on own distances are computed before all others
  const generators::Blobs set(3000, 6, 5, 1.5, 10, 0, 5);
  const auto x = generators::blobs<TestType>(set);
  KMeansOptions o{.clusters = k, .init = KMeansInit::random, .max_iter = 20, .tol = 0};
  const KMeansResult with = test::kmeans({}, Rows(x.view()), o);
  o.filter = KMeansFilter::none;
  const KMeansResult without = test::kmeans({}, Rows(x.view()), o);
  CHECK(same_bits(with, without));
  CHECK(with.skipped > 1000);
  CHECK(without.skipped == 0);
  o.metric = KMeansMetric::cosine;
  const KMeansResult plain = test::kmeans({}, Rows(x.view()), o);
  o.filter = KMeansFilter::automatic;
  CHECK(same_bits(plain, test::kmeans({}, Rows(x.view()), o)));
}
