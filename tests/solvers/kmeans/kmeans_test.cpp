#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

TEMPLATE_TEST_CASE("four weighted points, by hand", "[kmeans]", double, float) {
  const auto x = matrix<TestType>(4, 2, {0, 0, 0.5, 0, 0.5, 1, 1, 1});
  check_known_result<TestType>(Rows(x.view()));
  const auto s = to_sparse(x);
  check_known_result<TestType>(Rows(s.view()));
}

TEST_CASE("an empty cluster takes the farthest point", "[kmeans]") {
  const auto x = matrix(4, 2, {0, 0, 0.5, 0, 0.5, 1, 1, 1});
  const auto init = matrix(2, 2, {0.5, 0.5, 3, 3});
  const auto s = to_sparse(x);
  for (const Rows& rows : {Rows(x.view()), Rows(s.view())}) {
    const KMeansResult r = test::kmeans({}, rows, from_centers(init));
    CHECK(r.labels == Labels{1, 1, 0, 0});  // of the two farthest, the first moves
    CHECK(r.inertia == 0.25);
    CHECK(r.n_iter == 3);
    CHECK(r.relocated == 1);
    CHECK(r.distinct == 2);
  }
}

TEST_CASE("several empty clusters take the farthest points in turn", "[kmeans]") {
  const auto x = matrix(10, 1, {-10, -9.5, -9, -8.5, -8, -1, 1, 9, 9.5, 10});
  const auto init = matrix(3, 1, {-10, -10, -10});
  KMeansOptions o = from_centers(init);
  o.max_iter = 1;
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  CHECK(r.centers(0, 0) == Approx(-36.0 / 8));
  CHECK(r.centers(1, 0) == 10);
  CHECK(r.centers(2, 0) == 9.5);
  CHECK(r.relocated == 2);
  CHECK(r.stop == KMeansStop::max_iterations);
  check_consistent(Rows(x.view()), r);
}

TEST_CASE("relocation respects weights", "[kmeans]") {
  const auto x = matrix(2, 1, {-1, 1});
  const auto init = matrix(2, 1, {-1, 10});
  const std::vector<double> weights = {1.9, 0.1};
  KMeansOptions o = from_centers(init);
  o.weights = weights;
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  CHECK(r.labels == Labels{0, 1});
  CHECK(r.centers(0, 0) == -1);
  CHECK(r.centers(1, 0) == 1);
}

TEST_CASE("relocation looks past any number of points that weigh nothing", "[kmeans]") {
  constexpr index_t n = 600000;  // several parts, in which farthest points are looked for
  Matrix<double> x(n, 1);
  std::vector<double> weights(n, 1.0);
  for (index_t i = 0; i < n; ++i) {
    x(i, 0) = static_cast<double>(i % 1000) / 1000;
    if (i % 500 == 7) x(i, 0) = 50 + static_cast<double>(i) / n, weights[static_cast<std::size_t>(i)] = 0;
  }
  x(300000, 0) = 20, x(300001, 0) = x(599999, 0) = 30;
  const auto init = matrix(4, 1, {0, 100, 200, 300});
  KMeansOptions o = from_centers(init);
  o.weights = weights, o.max_iter = 1;
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  CHECK(r.relocated == 3);
  CHECK(r.centers(1, 0) == 30);
  CHECK(r.centers(2, 0) == 30);
  CHECK(r.centers(3, 0) == 20);
}

TEST_CASE("blobs are found, whatever the start, type and offset", "[kmeans]") {
  const KMeansInit init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel);
  const double offset = GENERATE(0.0, 1e3, 1e5);
  const generators::Blobs set(2000, 8, 8, 0.3, 10, offset, 5);
  KMeansOptions o{.clusters = 8, .init = init, .n_init = 3};
  const auto as_double = generators::blobs<double>(set);
  const auto as_float = generators::blobs<float>(set);
  const KMeansResult a = test::kmeans({}, Rows(as_double.view()), o), b = test::kmeans({}, Rows(as_float.view()), o);
  CHECK(adjusted_rand_index(a.labels, set.labels()) == 1);
  CHECK(adjusted_rand_index(b.labels, set.labels()) == 1);
  if (offset < 1e5) CHECK(b.inertia == Approx(a.inertia).epsilon(allowed::three_digits));
  check_consistent(Rows(as_float.view()), b);
}

TEST_CASE("float32 gives what float64 gives", "[kmeans]") {
  const auto x = generators::uniform<float>(3000, 5, 1);
  Matrix<double> wide(3000, 5);
  std::copy_n(x.data(), 15000, wide.data());
  KMeansOptions o;
  o.clusters = 6, o.init = KMeansInit::random;  // equal first centres
  const KMeansResult a = test::kmeans({}, Rows(x.view()), o), b = test::kmeans({}, Rows(wide.view()), o);
  CHECK(same_bits(a, b));
}

TEMPLATE_TEST_CASE("16-bit features, with norms that overflow their type", "[kmeans]", float16, bfloat16) {
  const generators::Blobs set(600, 16, 4, 300, 20000, 0, 3);
  const auto x = generators::blobs<TestType>(set);
  KMeansOptions o{.clusters = 4, .n_init = 4};
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  CHECK(adjusted_rand_index(r.labels, set.labels()) == 1);
  check_consistent(Rows(x.view()), r);
}

TEST_CASE("the same bits for any number of threads and any instructions", "[kmeans]") {
  const KMeansInit init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel, KMeansInit::random);
  const auto x = generators::uniform<float>(5000, 7, 2);
  std::vector<double> weights(5000);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 5) / 3;
  KMeansOptions o{.clusters = 9, .init = init, .weights = weights, .seed = 11};
  const KMeansResult a = test::kmeans(on_threads(1), Rows(x.view()), o);
  CHECK(same_bits(a, test::kmeans(on_threads(3), Rows(x.view()), o)));
  check_consistent(Rows(x.view()), a, weights);
  if (init == KMeansInit::random) {
    Context plain, reference;
    plain.simd = Simd::sse2, reference.implementation = Implementation::reference;
    CHECK(same_bits(a, test::kmeans(plain, Rows(x.view()), o)));
    CHECK(same_bits(a, test::kmeans(reference, Rows(x.view()), o)));
  }
  o.seed = 12;
  CHECK_FALSE(same_bits(a, test::kmeans(on_threads(1), Rows(x.view()), o)));
}

TEST_CASE("labels without proof are nearly the nearest, and looked at all the same", "[kmeans]") {
  // Points on the plane in the middle between two centres, but for the rounding of their coordinates.
  constexpr index_t n = 4000;
  Matrix<float> x(n, 3);
  for (index_t i = 0; i < n; ++i) {
    const double a = static_cast<double>(i % 90) / 9 - 5, b = static_cast<double>(i % 77) / 7 - 5;
    x(i, 0) = static_cast<float>(0.5 + 3 * a + 7 * b);
    x(i, 1) = static_cast<float>(1.5 - a), x(i, 2) = static_cast<float>(3.5 - b);
  }
  Matrix<double> centers(2, 3);
  centers(0, 0) = centers(0, 1) = centers(0, 2) = 0;
  centers(1, 0) = 1, centers(1, 1) = 3, centers(1, 2) = 7;
  const auto fast = predict({}, Rows(x.view()), centers.view(), KMeansMetric::euclidean, {}, KMeansPrecision::fast);
  const auto exact = predict({}, Rows(x.view()), centers.view());
  CHECK(fast.rescored == 0);
  CHECK(exact.rescored > n / 2);
  CHECK(verify({}, Rows(x.view()), centers.view(), exact.labels) == 0);
  CHECK(verify({}, Rows(x.view()), centers.view(), exact.labels, KMeansMetric::euclidean, 100) == 0);
  const index_t wrong = verify({}, Rows(x.view()), centers.view(), fast.labels);
  CHECK(wrong > n / 10);
  CHECK(fast.inertia == Approx(exact.inertia).epsilon(allowed::five_digits));
  const index_t in_sample = verify({}, Rows(x.view()), centers.view(), fast.labels, KMeansMetric::euclidean, 1000);
  CHECK(std::abs(in_sample - wrong / 4) < 60);
  CHECK(verify({}, Rows(x.view()), centers.view(), fast.labels, KMeansMetric::euclidean, n) == wrong);

  const auto points = generators::uniform<float>(5000, 7, 2);
  KMeansOptions o{.clusters = 9, .precision = KMeansPrecision::fast, .seed = 11};
  const KMeansResult a = test::kmeans({}, Rows(points.view()), o);
  o.filter = KMeansFilter::none;
  CHECK(same_bits(a, test::kmeans({}, Rows(points.view()), o)));
  CHECK(a.rescored == 0);
  o.precision = KMeansPrecision::exact;
  CHECK(a.inertia == Approx(test::kmeans({}, Rows(points.view()), o).inertia).epsilon(test::allowed::other_optimum));
}
