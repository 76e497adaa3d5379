// Centres of clusters that are far lighter than others, or have far smaller coordinates.
#include "tallskinny/tests/solvers/kmeans/ranks.hpp"

using namespace ts;
using namespace ts::test;

namespace {

constexpr index_t places = 5, features = 4;

/// Row i lies about place i % 5.
Matrix<double> blobs(index_t rows) {
  Matrix<double> x(rows, features);
  const Random random(11);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < features; ++j)
      x(i, j) = 30 * random.uniform(static_cast<std::uint64_t>(1000000 + i % places * features + j)) - 15 +
                random.normal(static_cast<std::uint64_t>(i * features + j)) / 10;
  return x;
}

Matrix<double> first_rows(const Matrix<double>& x) { return Matrix<double>::copy_of(x.cview().rows(0, places)); }

/// The means of the rows with each label, as the definition has them.
void expect_means(const Matrix<double>& x, const KMeansResult& r, const std::vector<double>& weights) {
  Matrix<long double> sums = Matrix<long double>::zeros(r.centers.rows(), features + 1);
  for (index_t i = 0; i < x.rows(); ++i) {
    const long double w = weights.empty() ? 1 : weights[static_cast<std::size_t>(i)];
    const index_t m = r.labels[static_cast<std::size_t>(i)];
    for (index_t j = 0; j < features; ++j) sums(m, j) += w * x(i, j);
    sums(m, features) += w;
  }
  for (index_t m = 0; m < r.centers.rows(); ++m)
    for (index_t j = 0; j < features; ++j) {
      CAPTURE(m, j);
      const auto mean = static_cast<double>(sums(m, j) / sums(m, features));
      CHECK(r.centers(m, j) == Approx(mean).margin(15 * allowed::short_sum).epsilon(allowed::short_sum));
    }
}

}  // namespace

TEST_CASE("centres are means of their rows, however light these are", "[kmeans]") {
  const auto x = blobs(200), init = first_rows(x);
  const double light = GENERATE(1e-2, 1e-6, 1e-10, 1e-16, 1e-30, 1e-200);
  CAPTURE(light);
  std::vector<double> weights(200, 1.0);
  for (std::size_t i = 0; i < 200; i += places) weights[i] = light * (1 + static_cast<double>(i) / 200);
  KMeansOptions o = from_centers(init);
  o.tol = 0, o.weights = weights;
  const KMeansResult r = test::kmeans({}, Rows(x.cview()), o);
  CHECK(r.relocated == 0);
  for (std::size_t i = 0; i < 200; ++i) CHECK(r.labels[i] == static_cast<std::int32_t>(i % places));
  expect_means(x, r, weights);
}

TEST_CASE("centres are means of their rows, however far one row is", "[kmeans]") {
  auto x = blobs(400);
  const double far = GENERATE(1e4, 1e6, 1e12, 1e18, 1e25, 1e100);
  CAPTURE(far);
  x(7, 1) = far, x(7, 2) = -far;
  Matrix<double> init(places + 1, features);
  std::copy_n(x.data(), places * features, init.data());
  std::copy_n(&x(7, 0), features, &init(places, 0));
  KMeansOptions o = from_centers(init);
  o.tol = 0;
  const KMeansResult r = test::kmeans({}, Rows(x.cview()), o);
  for (std::size_t i = 0; i < 400; ++i) CHECK(r.labels[i] == static_cast<std::int32_t>(i == 7 ? places : i % places));
  expect_means(x, r, {});
  check_consistent(Rows(x.cview()), r);
  o.init = KMeansInit::plus_plus, o.algorithm = GENERATE(KMeansAlgorithm::lloyd, KMeansAlgorithm::bisecting);
  const KMeansResult other = test::kmeans({}, Rows(x.cview()), o);
  CHECK(other.distinct == places + 1);
  if (o.algorithm == KMeansAlgorithm::lloyd) expect_means(x, other, {});
}

TEST_CASE("means of light rows have the same bits on threads, on ranks and in blocks", "[kmeans][ranks]") {
  const index_t n = 3 * chunk_rows + 100;
  const auto x = blobs(n), init = first_rows(x);
  std::vector<double> weights(static_cast<std::size_t>(n), 1.0);
  for (std::size_t i = 1; i < weights.size(); i += places) weights[i] = 1e-18 * static_cast<double>(i);
  KMeansOptions o = from_centers(init);
  o.max_iter = 4, o.weights = weights;
  const KMeansResult expected = solvers::kmeans(on_threads(1), Rows(x.cview()), o);
  CHECK(same_bits(expected, solvers::kmeans(on_threads(3), Rows(x.cview()), o)));
  ranks::on_ranks(3, n, [&](const Context& ctx) {
    KMeansOptions here = o;
    here.weights = ranks::here_of(ctx, weights);
    const KMeansResult found = solvers::kmeans(ctx, ranks::here_of(ctx, Rows(x.cview())), here);
    const std::lock_guard lock(ranks::catch_is_for_one_thread);
    expect_same_clusters(found, expected);
  });
}
