#include "tallskinny/solvers/kmeans/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/tests/solvers/kmeans/everywhere.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::solvers;

namespace {

template <class T = double>
Matrix<T> matrix(index_t rows, index_t cols, std::initializer_list<double> values) {
  Matrix<T> m(rows, cols);
  std::transform(values.begin(), values.end(), m.data(), [](double v) { return static_cast<T>(v); });
  return m;
}

template <class T>
CsrMatrix<T> to_sparse(const Matrix<T>& x) {
  CsrMatrix<T> s;
  s.rows = x.rows(), s.cols = x.cols();
  for (index_t i = 0; i < x.rows(); ++i) {
    for (index_t j = 0; j < x.cols(); ++j)
      if (x(i, j) != T{0}) s.indices.push_back(static_cast<std::int32_t>(j)), s.values.push_back(x(i, j));
    s.pointers.push_back(static_cast<index_t>(s.values.size()));
  }
  return s;
}

KMeansOptions from_centers(const Matrix<double>& centers) {
  KMeansOptions o;
  o.clusters = centers.rows();
  o.init = KMeansInit::given;
  o.centers = centers.view();
  return o;
}

using Labels = std::vector<std::int32_t>;

/// The share of pairs on which two labellings agree, corrected for chance (Hubert, Arabie 1985).
double adjusted_rand_index(const Labels& a, const Labels& b) {
  const auto ka = static_cast<std::size_t>(*std::max_element(a.begin(), a.end()) + 1);
  const auto kb = static_cast<std::size_t>(*std::max_element(b.begin(), b.end()) + 1);
  std::vector<double> table(ka * kb), rows(ka), cols(kb);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto p = static_cast<std::size_t>(a[i]), q = static_cast<std::size_t>(b[i]);
    ++table[p * kb + q], ++rows[p], ++cols[q];
  }
  const auto pairs = [](const std::vector<double>& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0.0,
                           [](double sum, double c) { return sum + c * (c - 1) / 2; });
  };
  const auto n = static_cast<double>(a.size());
  const double expected = pairs(rows) * pairs(cols) / (n * (n - 1) / 2);
  return (pairs(table) - expected) / ((pairs(rows) + pairs(cols)) / 2 - expected);
}

bool same_bits(const KMeansResult& a, const KMeansResult& b) {
  return a.labels == b.labels && a.inertia == b.inertia && a.n_iter == b.n_iter &&
         std::equal(a.centers.data(), a.centers.data() + a.centers.rows() * a.centers.cols(),
                    b.centers.data());
}

/// Labels, centres and inertia belong together.
void check_consistent(const Rows& rows, const KMeansResult& r, std::span<const double> weights = {}) {
  CHECK(verify({}, rows, r.centers.view(), r.labels) == 0);
  const auto again = predict({}, rows, r.centers.view(), KMeansMetric::euclidean, weights);
  CHECK(again.labels == r.labels);
  CHECK(again.inertia == r.inertia);
  CHECK(again.sizes == r.sizes);
  CHECK(std::accumulate(r.sizes.begin(), r.sizes.end(), index_t{0}) == rows.rows());
}

template <class T>
void check_known_result(const Rows& rows) {
  const auto init = matrix(2, 2, {0, 0, 1, 1});
  const std::vector<double> weights = {3, 1, 1, 3};
  KMeansOptions o = from_centers(init);
  o.weights = weights;
  const KMeansResult r = test::kmeans({}, rows, o);
  CHECK(r.labels == Labels{0, 0, 1, 1});
  CHECK(r.inertia == 0.375);
  CHECK(r.n_iter == 2);
  CHECK(r.converged());
  CHECK(r.centers(0, 0) == 0.125);
  CHECK(r.centers(0, 1) == 0);
  CHECK(r.centers(1, 0) == 0.875);
  CHECK(r.centers(1, 1) == 1);
}

}  // namespace

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
  KMeansOptions o;
  o.clusters = 8, o.init = init, o.n_init = 3;
  const auto as_double = generators::blobs<double>(set);
  const auto as_float = generators::blobs<float>(set);
  const KMeansResult a = test::kmeans({}, Rows(as_double.view()), o),
                     b = test::kmeans({}, Rows(as_float.view()), o);
  CHECK(adjusted_rand_index(a.labels, set.labels()) == 1);
  CHECK(adjusted_rand_index(b.labels, set.labels()) == 1);
  if (offset < 1e5) CHECK(b.inertia == Approx(a.inertia).epsilon(1e-3));
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
  KMeansOptions o;
  o.clusters = 4, o.n_init = 4;
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  CHECK(adjusted_rand_index(r.labels, set.labels()) == 1);
  check_consistent(Rows(x.view()), r);
}

TEST_CASE("the same bits for any number of threads and any instructions", "[kmeans]") {
  const KMeansInit init =
      GENERATE(KMeansInit::plus_plus, KMeansInit::parallel, KMeansInit::random, KMeansInit::markov);
  const auto x = generators::uniform<float>(5000, 7, 2);
  std::vector<double> weights(5000);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 5) / 3;
  KMeansOptions o;
  o.clusters = 9, o.init = init, o.seed = 11, o.weights = weights;
  Context one, three;
  one.threads = 1, three.threads = 3;
  const KMeansResult a = test::kmeans(one, Rows(x.view()), o), b = test::kmeans(three, Rows(x.view()), o);
  CHECK(same_bits(a, b));
  check_consistent(Rows(x.view()), a, weights);
  if (init == KMeansInit::random) {
    Context plain, reference;
    plain.simd = Simd::sse2, reference.implementation = Implementation::reference;
    CHECK(same_bits(a, test::kmeans(plain, Rows(x.view()), o)));
    CHECK(same_bits(a, test::kmeans(reference, Rows(x.view()), o)));
  }
  o.seed = 12;
  CHECK_FALSE(same_bits(a, test::kmeans(one, Rows(x.view()), o)));
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
  const auto fast =
      predict({}, Rows(x.view()), centers.view(), KMeansMetric::euclidean, {}, KMeansPrecision::fast);
  const auto exact = predict({}, Rows(x.view()), centers.view());
  CHECK(fast.rescored == 0);
  CHECK(exact.rescored > n / 2);
  CHECK(verify({}, Rows(x.view()), centers.view(), exact.labels) == 0);
  CHECK(verify({}, Rows(x.view()), centers.view(), exact.labels, KMeansMetric::euclidean, 100) == 0);
  const index_t wrong = verify({}, Rows(x.view()), centers.view(), fast.labels);
  CHECK(wrong > n / 10);
  CHECK(fast.inertia == Approx(exact.inertia).epsilon(1e-5));
  const index_t in_sample =
      verify({}, Rows(x.view()), centers.view(), fast.labels, KMeansMetric::euclidean, 1000);
  CHECK(std::abs(in_sample - wrong / 4) < 60);
  CHECK(verify({}, Rows(x.view()), centers.view(), fast.labels, KMeansMetric::euclidean, n) == wrong);

  const auto points = generators::uniform<float>(5000, 7, 2);
  KMeansOptions o;
  o.clusters = 9, o.seed = 11, o.precision = KMeansPrecision::fast;
  const KMeansResult a = test::kmeans({}, Rows(points.view()), o);
  o.bounds = false;
  CHECK(same_bits(a, test::kmeans({}, Rows(points.view()), o)));
  CHECK(a.rescored == 0);
  o.precision = KMeansPrecision::exact;
  CHECK(a.inertia == Approx(test::kmeans({}, Rows(points.view()), o).inertia).epsilon(0.02));
}

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
      for (index_t j = 0; j < 5; ++j)
        distance[static_cast<std::size_t>(m)] += std::pow(x(i, j) - init(m, j), 2);
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
  KMeansOptions o;
  o.clusters = 5, o.init = KMeansInit::random;
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
  KMeansOptions o;
  o.clusters = 7, o.tol = 0;
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
    CHECK(w.inertia == Approx(r.inertia).epsilon(1e-12));
    for (index_t q = 0; q < 16; ++q) CHECK(w.centers.data()[q] == Approx(r.centers.data()[q]).epsilon(1e-12));
  }
  SECTION("unit weights are no weights, and a common factor changes inertia alone") {
    const KMeansResult none = test::kmeans({}, Rows(x.view()), o);
    const std::vector<double> ones(200, 1.0), threes(200, 3.0);
    o.weights = ones;
    CHECK(same_bits(none, test::kmeans({}, Rows(x.view()), o)));
    o.weights = threes;
    const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
    CHECK(r.labels == none.labels);
    CHECK(r.inertia == Approx(3 * none.inertia).epsilon(1e-12));
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
        CHECK(half.inertia == Approx(r.inertia).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("more restarts and more iterations do not worsen the result", "[kmeans]") {
  const auto x = generators::uniform<double>(400, 2, 10);
  KMeansOptions o;
  o.clusters = 10, o.init = KMeansInit::random;
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
  KMeansOptions o;
  o.clusters = 8, o.init = KMeansInit::random;
  const KMeansResult a = test::kmeans({}, Rows(x.view()), o), b = test::kmeans({}, Rows(s.view()), o);
  CHECK(same_bits(a, test::kmeans({}, Rows(columns.view()), o)));
  CHECK(a.labels == b.labels);
  CHECK(a.inertia == Approx(b.inertia).epsilon(1e-12));
  CHECK(verify({}, Rows(s.view()), b.centers.view(), b.labels) == 0);
  o.init = KMeansInit::plus_plus;
  CHECK(test::kmeans({}, Rows(s.view()), o).distinct == 8);
}

TEMPLATE_TEST_CASE("bounds change nothing but the time", "[kmeans]", double, float, float16) {
  const index_t k = GENERATE(5, 260);  // from 256 on own distances are computed before all others
  const generators::Blobs set(3000, 6, 5, 1.5, 10, 0, 5);
  const auto x = generators::blobs<TestType>(set);
  KMeansOptions o;
  o.clusters = k, o.init = KMeansInit::random, o.tol = 0, o.max_iter = 20;
  const KMeansResult with = test::kmeans({}, Rows(x.view()), o);
  o.bounds = false;
  const KMeansResult without = test::kmeans({}, Rows(x.view()), o);
  CHECK(same_bits(with, without));
  CHECK(with.skipped > 1000);
  CHECK(without.skipped == 0);
  o.metric = KMeansMetric::cosine;
  const KMeansResult plain = test::kmeans({}, Rows(x.view()), o);
  o.bounds = true;
  CHECK(same_bits(plain, test::kmeans({}, Rows(x.view()), o)));
}
