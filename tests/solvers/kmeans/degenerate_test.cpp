// Degenerate input: duplicates, extremes of k, bad values, counters that saturate.
#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::solvers;

namespace {

std::string refusal(const Rows& rows, const KMeansOptions& o) {
  try {
    (void)test::kmeans({}, rows, o);
  } catch (const Error& e) {
    CHECK(e.code() == Errc::invalid_argument);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("fewer distinct points than clusters", "[kmeans]") {
  const KMeansInit init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel, KMeansInit::random);
  const auto x = generators::duplicates<float>(60, 3, 3, 7);
  KMeansOptions o{.clusters = 4, .init = init};
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  CHECK(r.distinct == 3);
  CHECK(r.converged());
  CHECK(r.inertia < test::allowed::many_steps);
  REQUIRE(r.notes.size() == 1);
  CHECK(mentions(r.notes[0], "distinct clusters (3) found smaller than n_clusters (4)"));
  o.clusters = 3;
  const KMeansResult exact = test::kmeans({}, Rows(x.view()), o);
  CHECK(exact.distinct == 3);
  CHECK(exact.inertia == 0);
  CHECK(exact.notes.empty());
}

TEST_CASE("all points equal", "[kmeans]") {
  for (const double value : {0.0, -0.0, 7.25, 1e-310}) {
    Matrix<double> x(20, 2);
    for (index_t q = 0; q < 40; ++q) x.data()[q] = value;
    KMeansOptions o{.clusters = 20};
    const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
    CHECK(r.distinct == 1);
    CHECK(r.inertia == 0);
    CHECK(r.centers(0, 0) == value);
  }
}

TEST_CASE("one cluster, and as many as points", "[kmeans]") {
  const auto x = generators::uniform<float>(40, 3, 1);
  for (const KMeansInit init : {KMeansInit::plus_plus, KMeansInit::parallel, KMeansInit::random}) {
    KMeansOptions o{.clusters = 1, .init = init};
    const KMeansResult one = test::kmeans({}, Rows(x.view()), o);
    CHECK(one.sizes == std::vector<index_t>{40});
    CHECK(one.converged());
    o.clusters = 40;
    const KMeansResult all = test::kmeans({}, Rows(x.view()), o);
    CHECK(all.inertia == 0);
    CHECK(all.distinct == 40);
    o.clusters = 41;
    CHECK(mentions(refusal(Rows(x.view()), o), "(41) is larger than the number of points (40)"));
  }
  const auto single = generators::uniform<float>(1, 1, 1);
  KMeansOptions o{.clusters = 1};
  CHECK(test::kmeans({}, Rows(single.view()), o).inertia == 0);
}

TEST_CASE("one feature, and as many clusters as points, of which most are copies", "[kmeans]") {
  Matrix<float> x(3000, 1);
  std::set<float> values;
  for (index_t i = 0; i < x.rows(); ++i) values.insert(x(i, 0) = static_cast<float>(i * i % 523) / 7);
  for (const KMeansInit init : {KMeansInit::plus_plus, KMeansInit::parallel, KMeansInit::random}) {
    KMeansOptions o{.clusters = x.rows(), .init = init};
    const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
    CHECK(r.inertia == 0);
    CHECK(r.distinct == std::ssize(values));
    for (index_t i = 0; i < x.rows(); ++i)
      REQUIRE(r.centers(r.labels[static_cast<std::size_t>(i)], 0) == static_cast<double>(x(i, 0)));
  }
}

TEST_CASE("one feature, in blocks, on threads and predicted: the same bits", "[kmeans]") {
  const auto x = generators::uniform<float>(20000, 1, 8);
  const Rows rows(x.view());
  for (const index_t k : {3, 700}) {
    KMeansOptions o{.clusters = k, .init = KMeansInit::random, .max_iter = 8};
    const KMeansResult found = test::kmeans(test::on_threads(1), rows, o);
    CHECK(verify({}, rows, found.centers.cview(), found.labels) == 0);
    const KMeansResult blocks = solvers::kmeans(test::on_threads(3), test::InBlocks(rows), o);
    CHECK(test::same_bits(found, blocks));
    o.filter = KMeansFilter::none;
    CHECK(test::same_bits(found, solvers::kmeans({}, rows, o)));
    const KMeansPrediction predicted = predict({}, test::InBlocks(rows), found.centers.cview());
    CHECK(predicted.labels == found.labels);
    CHECK(predicted.inertia == found.inertia);
    o.algorithm = KMeansAlgorithm::mini_batch, o.batch = 256;
    const KMeansResult quick = solvers::kmeans({}, rows, o);
    CHECK(verify({}, rows, quick.centers.cview(), quick.labels) == 0);
  }
}

TEST_CASE("one feature, constant features, signed zeros and small numbers", "[kmeans]") {
  Matrix<double> line(9, 1);
  for (index_t i = 0; i < 9; ++i) line(i, 0) = static_cast<double>(i / 3) * 10 + static_cast<double>(i % 3);
  KMeansOptions o{.clusters = 3, .n_init = 5};
  CHECK(test::kmeans({}, Rows(line.view()), o).inertia == Approx(6).epsilon(test::allowed::short_sum));

  Matrix<double> constant(9, 3);
  for (index_t i = 0; i < 9; ++i)
    constant(i, 0) = 1e6, constant(i, 1) = line(i, 0) * 1e-140, constant(i, 2) = i % 2 == 0 ? 0.0 : -0.0;
  const KMeansResult r = test::kmeans({}, Rows(constant.view()), o);
  CHECK(r.distinct == 3);
  CHECK(r.labels[0] == r.labels[2]);
  CHECK(r.labels[3] == r.labels[5]);
  CHECK(r.labels[0] != r.labels[3]);
  CHECK(r.centers(0, 0) == 1e6);
}

TEST_CASE("what cannot be clustered is refused in a sentence", "[kmeans]") {
  auto x = generators::uniform<double>(10, 2, 1);
  KMeansOptions o{.clusters = 2};
  CHECK(mentions(refusal(Rows(Matrix<double>(0, 2).view()), o), "no points"));
  CHECK(mentions(refusal(Rows(Matrix<double>(3, 0).view()), o), "no features"));
  o.clusters = 0;
  CHECK(mentions(refusal(Rows(x.view()), o), "at least 1"));
  o.clusters = 2;

  std::vector<double> negative(10, 1.0), nan = negative;
  negative[4] = -1, nan[4] = std::nan("");
  for (const auto& [weights, said] : {std::pair{negative, "weight of point 4"},
                                      {nan, "weight of point 4"},
                                      {std::vector<double>(10), "all weights are zero"},
                                      {std::vector<double>(9), "9 weights for 10 points"}}) {
    o.weights = weights;
    CHECK(mentions(refusal(Rows(x.view()), o), said));
  }
  o.weights = {};

  const Matrix<double> three = generators::uniform<double>(3, 2, 2), wide = generators::uniform<double>(2, 5, 2);
  o.init = KMeansInit::given, o.centers = three.view();
  CHECK(mentions(refusal(Rows(x.view()), o), "3 given centres for 2 clusters"));
  o.centers = wide.view();
  CHECK(mentions(refusal(Rows(x.view()), o), "5 features but the points have 2"));
  o.init = KMeansInit::random;
  for (const KMeansMetric metric : {KMeansMetric::euclidean, KMeansMetric::cosine}) {
    o.metric = metric;
    x(7, 1) = std::nan("");
    CHECK(mentions(refusal(Rows(x.view()), o), "row 7, column 1"));
    CHECK_THROWS_AS(predict({}, Rows(x.view()), three.view(), metric), Error);
  }
}

TEST_CASE("restarts from given centres are made once, and said so", "[kmeans]") {
  const auto x = generators::uniform<double>(50, 2, 1);
  const auto c = generators::uniform<double>(3, 2, 2);
  KMeansOptions o{.clusters = 3, .init = KMeansInit::given, .centers = c.view(), .n_init = 4};
  int runs = 0;
  o.on_progress = [&runs](const KMeansProgress& p) {
    runs = std::max(runs, p.run + 1);
    return true;
  };
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  CHECK(runs == 1);
  REQUIRE(r.notes.size() == 1);
  CHECK(mentions(r.notes[0], "only one of 4"));
}

TEST_CASE("a request to stop is honoured with a consistent result", "[kmeans]") {
  const auto x = generators::uniform<double>(2000, 4, 1);
  KMeansOptions o{.clusters = 12, .tol = 0};
  o.on_progress = [](const KMeansProgress& p) { return p.iteration < 3; };
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  CHECK(r.stop == KMeansStop::interrupted);
  CHECK(r.n_iter == 3);
  CHECK(verify({}, Rows(x.view()), r.centers.view(), r.labels) == 0);
  o.on_progress = [](const KMeansProgress&) { return false; };
  try {
    (void)test::kmeans({}, Rows(x.view()), o);
    FAIL("went on");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::interrupted);
  }
}

TEST_CASE("clusters by direction", "[kmeans]") {
  // Three directions, lengths over six orders of magnitude, and rows without a direction.
  Matrix<float> x(63, 3);
  for (index_t i = 0; i < 60; ++i)
    for (index_t j = 0; j < 3; ++j) {
      const double length = std::pow(10.0, static_cast<double>(i % 7) - 3);
      x(i, j) = static_cast<float>(length * ((i % 3 == j ? 1.0 : 0.0) + 0.01 * static_cast<double>((i * j) % 5)));
    }
  for (index_t i = 60; i < 63; ++i) x(i, 0) = x(i, 1) = x(i, 2) = 0;
  KMeansOptions o{.clusters = 3, .n_init = 5, .metric = KMeansMetric::cosine};
  const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
  for (std::size_t i = 3; i < 60; ++i) CHECK(r.labels[i] == r.labels[i % 3]);
  CHECK(std::set<std::int32_t>(r.labels.begin(), r.labels.end()).size() == 3);
  CHECK(r.zero_rows == 3);
  CHECK(r.labels[60] == 0);
  for (index_t m = 0; m < 3; ++m)
    CHECK(std::hypot(r.centers(m, 0), r.centers(m, 1), r.centers(m, 2)) ==
          Approx(1).epsilon(test::allowed::last_place));
  CHECK(verify({}, Rows(x.view()), r.centers.view(), r.labels, KMeansMetric::cosine) == 0);
  const auto again = predict({}, Rows(x.view()), r.centers.view(), KMeansMetric::cosine);
  CHECK(again.labels == r.labels);
  CHECK(again.inertia == r.inertia);
  // Scaled centres have the same directions.
  auto scaled = Matrix<double>::copy_of(r.centers.cview());
  for (index_t q = 0; q < 9; ++q) scaled.data()[q] *= 17;
  CHECK(predict({}, Rows(x.view()), scaled.view(), KMeansMetric::cosine).labels == r.labels);

  Matrix<double> opposite(2, 1);
  opposite(0, 0) = 1, opposite(1, 0) = -1;
  o.clusters = 1, o.n_init = 1;
  const KMeansResult cancelled = test::kmeans({}, Rows(opposite.view()), o);
  CHECK(std::abs(cancelled.centers(0, 0)) == 1);  // the centre stays where the rows cancel
  CHECK(cancelled.inertia == 4);
}

TEST_CASE("random first centres are distinct rows", "[kmeans]") {
  const auto x = generators::duplicates<double>(300, 2, 20, 3);
  KMeansOptions o{.clusters = 20, .init = KMeansInit::random, .max_iter = 1};
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    o.seed = seed;
    const KMeansResult r = test::kmeans({}, Rows(x.view()), o);
    CHECK(r.inertia == 0);  // all 20 points are centres at once
  }
}

TEST_CASE("scales that float64 cannot square are refused, others give the same labels", "[kmeans]") {
  const Matrix<double> x = generators::duplicates<double>(60, 3, 7, 5);
  KMeansOptions o{.clusters = 3};
  const KMeansResult one = solvers::kmeans({}, Rows(x.cview()), o);
  const auto code_at = [&](int exponent, HostView<const double> centers, std::span<const double> weights) {
    auto scaled = Matrix<double>::copy_of(x.cview());
    for (index_t e = 0; e < x.rows() * x.cols(); ++e) scaled.data()[e] = std::ldexp(x.data()[e], exponent);
    KMeansOptions with = o;
    with.weights = weights;
    try {
      const KMeansResult r = solvers::kmeans({}, Rows(scaled.cview()), with);
      CHECK(r.labels == one.labels);
      CHECK(r.inertia == std::ldexp(one.inertia, 2 * exponent));
      if (centers.rows() > 0) (void)predict({}, Rows(scaled.cview()), centers);
    } catch (const Error& e) {
      CHECK(e.code() == Errc::bad_input);
      return 4;
    }
    return 0;
  };
  for (const int exponent : {-1000, -700, -560, 515, 700, 1000}) CHECK(code_at(exponent, {}, {}) == 4);
  for (const int exponent : {-400, -100, 100, 400}) CHECK(code_at(exponent, {}, {}) == 0);
  const auto far = Matrix<double>::zeros(2, 3);
  auto beyond = Matrix<double>::copy_of(far.cview());
  beyond.data()[4] = 1e308;
  CHECK(code_at(0, far.cview(), {}) == 0);
  CHECK(code_at(0, beyond.cview(), {}) == 4);
  const auto refused = [](auto&& call) {
    try {
      call();
    } catch (const KMeansRangeError& e) {
      return e.of();
    }
    FAIL("nothing was refused");
    return KMeansRangeError::Of::points;
  };
  using Of = KMeansRangeError::Of;
  const std::vector<std::int32_t> zeros(60);
  CHECK(refused([&] { (void)verify({}, Rows(x.cview()), beyond.cview(), zeros); }) == Of::centers);
  CHECK(refused([&] { (void)transform({}, Rows(x.cview()), beyond.cview()); }) == Of::centers);
  KMeansOptions given = o;
  given.clusters = 2, given.init = KMeansInit::given, given.centers = beyond.cview();
  CHECK(refused([&] { (void)solvers::kmeans({}, Rows(x.cview()), given); }) == Of::centers);
  auto large = Matrix<double>::copy_of(x.cview());
  large.data()[5] = 1e308;
  CHECK(refused([&] { (void)transform({}, Rows(large.cview()), far.cview()); }) == Of::points);
  const std::vector<double> heavy(60, 1e308), light(60, 1e-300);
  CHECK(code_at(0, {}, heavy) == 4);
  CHECK(code_at(0, {}, light) == 4);
}
