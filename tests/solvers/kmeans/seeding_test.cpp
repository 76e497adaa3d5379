// First centres of many rows, which are chosen on samples of them.
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::solvers;

namespace {

constexpr index_t many = 66000;  // from 2^16 on, k-means++ looks at samples

KMeansResult first_centres(const Rows& x, KMeansInit init, index_t k, std::span<const double> weights = {},
                           int threads = 0) {
  Context ctx;
  ctx.threads = threads;
  KMeansOptions o{.clusters = k, .init = init, .max_iter = 1, .weights = weights, .seed = 11};
  return solvers::kmeans(ctx, x, o);
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
  KMeansOptions o;
  o.init = GENERATE(KMeansInit::plus_plus, KMeansInit::parallel);
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
                    [](const cuda::KernelPlan& kernel) { return kernel.family == "seed_turns"; }));
}
