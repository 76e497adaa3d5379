// Problems of a batch, beside the same problems alone.
#include "tallskinny/solvers/kmeans/variants/batch.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/types.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::solvers;
using namespace ts::test;

namespace {

/// Every result of the batch has the bits of its problem alone. @param part(b, options) what options problem b has
template <class Part>
void check_batch(std::span<const Rows> problems, const KMeansOptions& o, const Part& part) {
  for (const int threads : {1, 2, 5}) {
    INFO(problems.size() << " problems, " << threads << " threads");
    const auto found = kmeans_batch(on_threads(threads), problems, o);
    REQUIRE(found.size() == problems.size());
    for (std::size_t b = 0; b < found.size(); ++b) {
      KMeansOptions one = part(b, o);
      one.seed = o.seed + b;
      expect_same(found[b], solvers::kmeans(on_threads(1), problems[b], one));
    }
  }
}
void check_batch(std::span<const Rows> problems, const KMeansOptions& o) {
  check_batch(problems, o, [](std::size_t, const KMeansOptions& same) { return same; });
}

std::string refusal(const Context& ctx, std::span<const Rows> problems, const KMeansOptions& o, Errc code) {
  try {
    (void)kmeans_batch(ctx, problems, o);
  } catch (const Error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the problems of a batch have the results of single calls", "[kmeans]") {
  const auto x = generators::uniform<float>(7 * 300, 5, 3);
  for (const index_t batch : {1, 3, 7}) {
    const auto problems = equal_blocks(Rows(x.cview().rows(0, batch * 300)), batch);
    for (const KMeansInit init : {KMeansInit::plus_plus, KMeansInit::parallel, KMeansInit::random})
      check_batch(problems, {.clusters = 12, .init = init, .max_iter = 30, .seed = 5});
  }
  const auto problems = equal_blocks(Rows(x.cview()), 7);
  check_batch(problems, {.clusters = 9, .n_init = 3, .max_iter = 10});
  check_batch(problems, {.clusters = 9, .max_iter = 10, .metric = KMeansMetric::cosine});
  check_batch(problems, {.clusters = 9, .algorithm = KMeansAlgorithm::mini_batch, .batch = 64, .max_iter = 20});
  check_batch(problems, {.clusters = 9, .algorithm = KMeansAlgorithm::bisecting});
}

TEST_CASE("large problems of a batch share all threads, with the same bits", "[kmeans]") {
  const auto x = generators::uniform<double>(3 * 20000, 8, 4);
  const auto problems = equal_blocks(Rows(x.cview()), 3);
  check_batch(problems, {.clusters = 150, .init = KMeansInit::random, .max_iter = 3});
}

TEST_CASE("the same rows with several seeds, and columns of rows", "[kmeans]") {
  const auto x = generators::uniform<double>(400, 12, 2);
  check_batch(std::vector<Rows>(5, Rows(x.cview())), {.clusters = 7, .seed = 11});
  std::vector<Rows> columns;  // of a product quantiser: each takes some of the columns
  for (index_t j = 0; j < 12; j += 3) columns.emplace_back(x.cview().block(0, j, 400, 3));
  check_batch(columns, {.clusters = 16, .max_iter = 25});
  const auto sparse = to_sparse(x);
  check_batch(std::vector<Rows>(2, Rows(sparse.view())), {.clusters = 4});
}

TEST_CASE("weights and first centres of a batch: for all problems alike, or of each", "[kmeans]") {
  constexpr index_t n = 120, k = 6, batch = 4;
  const auto x = generators::uniform<float>(batch * n, 3, 6);
  const auto problems = equal_blocks(Rows(x.cview()), batch);
  std::vector<double> weights(at(batch * n));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 7);
  Matrix<double> centers(batch * k, 3);
  for (index_t m = 0; m < batch * k; ++m) Rows(x.cview()).load(m * 19 % (batch * n), centers.data() + m * 3);
  KMeansOptions o{.clusters = k, .init = KMeansInit::given, .centers = centers.cview().rows(0, k)};
  o.weights = std::span<const double>(weights).first(at(n));
  check_batch(problems, o);
  o.weights = weights, o.centers = centers.cview();
  check_batch(problems, o, [&](std::size_t b, KMeansOptions one) {
    const auto first = static_cast<index_t>(b);
    one.weights = one.weights.subspan(b * at(n), at(n)), one.centers = one.centers.rows(first * k, k);
    return one;
  });
}

TEST_CASE("what a batch refuses names the problem", "[kmeans]") {
  auto x = generators::uniform<float>(60, 2, 1);
  x(47, 1) = std::numeric_limits<float>::quiet_NaN();
  const auto problems = equal_blocks(Rows(x.cview()), 3);
  CHECK(mentions(refusal({}, problems, {.clusters = 3}, Errc::invalid_argument), "problem 2 of the batch"));
  CHECK(mentions(refusal({}, problems, {.clusters = 3}, Errc::invalid_argument), "row 7"));
  CHECK(mentions(refusal({}, problems, {.clusters = 21}, Errc::invalid_argument), "of the batch"));
  CHECK(mentions(refusal({}, {}, {}, Errc::invalid_argument), "at least 1 problem"));
  const std::vector<Rows> unequal = {Rows(x.cview().rows(0, 20)), Rows(x.cview().rows(0, 21))};
  CHECK(mentions(refusal({}, unequal, {.clusters = 2}, Errc::invalid_argument), "one shape"));
  KMeansOptions o{.clusters = 2};
  o.on_state = [](const auto&) {};
  CHECK(mentions(refusal({}, problems, o, Errc::invalid_argument), "resumed"));
  CHECK_THROWS_AS(equal_blocks(Rows(x.cview()), 7), Error);
  Matrix<double> far(2, 1);
  far(0, 0) = 1e300;
  CHECK_THROWS_AS(kmeans_batch({}, equal_blocks(Rows(far.cview()), 1), {.clusters = 1}), KMeansRangeError);
}

TEST_CASE("a batch tells its progress one call at a time, and stops when it is asked to", "[kmeans]") {
  const auto x = generators::uniform<float>(6 * 200, 4, 9);
  const auto problems = equal_blocks(Rows(x.cview()), 6);
  std::atomic<int> inside = 0;
  std::set<int> runs;
  KMeansOptions o{.clusters = 10, .init = KMeansInit::random, .n_init = 2, .max_iter = 40};
  o.on_progress = [&](const KMeansProgress& now) {
    CHECK(++inside == 1);
    runs.insert(now.run);
    CHECK(now.runs == 12);
    --inside;
    return true;
  };
  CHECK(kmeans_batch(on_threads(3), problems, o).size() == 6);
  CHECK(runs.size() == 12);
  int calls = 0;
  o.on_progress = [&](const KMeansProgress&) { return ++calls < 4; };
  CHECK(mentions(refusal(on_threads(3), problems, o, Errc::interrupted), "stopped"));
  CHECK(calls == 4);
}

TEST_CASE("a batch on a device: problems after the first start the kernels of the first", "[kmeans][cuda]") {
  const auto kernels_of = [](index_t batch) {
    Context ctx{.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_90a"))};
    const DeviceMatrix<float> x(ctx.stream, batch * 1000, 4);
    const Matrix<double> centers = Matrix<double>::zeros(5, 4);
    KMeansOptions o{.clusters = 5, .init = KMeansInit::given, .centers = centers.cview(), .max_iter = 3};
    const auto found = kmeans_batch(ctx, equal_blocks(Rows(ctx.stream, x.cview()), batch), o);
    CHECK(std::ssize(found) == batch);
    std::multiset<std::string> names;
    for (const cuda::KernelPlan& plan : ctx.stream.rehearsal()->kernels) names.emplace(plan.family);
    return names;
  };
  const auto one = kernels_of(1), four = kernels_of(4);
  CHECK(one.count("assign_means") > 0);
  CHECK(four.size() == 4 * one.size());
}
