// k-means on several ranks, which are threads here, has the bits of one.
#include "tallskinny/tests/solvers/kmeans/ranks.hpp"

#include "tallskinny/solvers/kmeans/seeding/seeding_detail.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

using namespace ts;
using namespace ts::test;
using namespace ts::test::ranks;

namespace {

std::vector<double> numbers_of(const KMeansProgress& p) {
  std::vector<double> numbers{p.squared_shift, p.inertia};
  for (const index_t count :
       {index_t{p.run}, p.clusters, index_t{p.iteration}, p.chosen, p.changed, p.relocated, p.rescored, p.skipped})
    numbers.push_back(static_cast<double>(count));
  return numbers;
}

/// Checks that several ranks find the result of one rank, and report equal progress.
KMeansResult expect_same_on_ranks(const Rows& x, KMeansOptions o, const std::vector<double>& weights = {},
                                  bool in_blocks = false) {
  using Told = std::vector<std::vector<double>>;
  const auto run = [&](const Context& ctx, const Rows& rows, std::span<const double> weights_here, Told& told) {
    KMeansOptions here = o;
    here.weights = weights_here;
    here.on_progress = [&](const KMeansProgress& now) {
      told.push_back(numbers_of(now));
      return true;
    };
    if (in_blocks) return solvers::kmeans(ctx, InBlocks(rows), here);
    return solvers::kmeans(ctx, rows, here);
  };
  Told told_by_one;
  KMeansResult one = run({}, x, weights, told_by_one);
  for (const int ranks : some_ranks) {
    CAPTURE(ranks);
    std::vector<KMeansResult> found(static_cast<std::size_t>(ranks));
    std::vector<Told> told(found.size());
    on_ranks(ranks, n, [&](const Context& ctx) {
      const auto rank = static_cast<std::size_t>(ctx.communicator->rank());
      found[rank] = run(ctx, here_of(ctx, x), here_of(ctx, weights), told[rank]);
    });
    const RowSlabs slabs = RowSlabs::of_pieces(n, ranks, chunk_rows);
    for (int rank = 0; rank < ranks; ++rank) {
      CAPTURE(rank);
      expect_same_reports(
          found[static_cast<std::size_t>(rank)], one,
          std::span(one.labels)
              .subspan(static_cast<std::size_t>(slabs.begin(rank)), static_cast<std::size_t>(slabs.rows(rank))));
      CHECK(told[static_cast<std::size_t>(rank)] == told_by_one);
    }
  }
  return one;
}

}  // namespace

TEST_CASE("k-means on ranks: every seeding, with and without weights", "[kmeans][ranks]") {
  const auto x = points();
  const KMeansInit init = GENERATE(KMeansInit::random, KMeansInit::plus_plus, KMeansInit::parallel);
  CAPTURE(static_cast<int>(init));
  KMeansOptions o = options(init);
  o.n_init = 2;
  (void)expect_same_on_ranks(Rows(x.view()), o, none_or_some_weights());
}

TEST_CASE("k-means on ranks: first centres by a sample of the rows of all", "[kmeans][ranks]") {
  constexpr index_t rows = 70000, k = 40;  // a quarter is more than the least sample
  REQUIRE(seeding_sample(rows, 2, k) > 0);
  REQUIRE(kmeans_detail::rounds_sample(rows, 2, k) < rows);
  // Far blobs: samples of k-means|| are used up.
  const double apart = GENERATE(10.0, 1000.0);
  const generators::Blobs set(rows, 2, 30, 0.2, apart, 0, 5);
  const auto x = generators::blobs<float>(set);
  KMeansOptions o = options(GENERATE(KMeansInit::plus_plus, KMeansInit::parallel), k);
  const std::vector<double> weights(GENERATE(0, 1) * static_cast<std::size_t>(rows), 0.5);
  o.max_iter = 1;
  o.weights = weights;
  const KMeansResult one = solvers::kmeans({}, Rows(x.view()), o);
  on_ranks(3, rows, [&](const Context& ctx) {
    KMeansOptions own = o;
    own.weights = here_of(ctx, weights);
    const KMeansResult here = solvers::kmeans(ctx, here_of(ctx, Rows(x.view())), own);
    const std::lock_guard one_thread(catch_is_for_one_thread);
    expect_same_reports(here, one, here_of(ctx, one.labels));
  });
}

TEST_CASE("k-means on ranks: types, precisions and bounds", "[kmeans][ranks]") {
  const auto wide = points();
  Matrix<float> narrow(n, wide.cols());
  std::transform(wide.data(), wide.data() + n * wide.cols(), narrow.data(),
                 [](double value) { return static_cast<float>(value); });
  KMeansOptions o = options(KMeansInit::plus_plus, 9);
  o.filter = GENERATE(KMeansFilter::automatic, KMeansFilter::none);
  o.precision = GENERATE(KMeansPrecision::exact, KMeansPrecision::fast);
  (void)expect_same_on_ranks(Rows(narrow.view()), o);
}

TEST_CASE("k-means on ranks: many clusters use distances between centres by the number of all rows",
          "[kmeans][ranks]") {
  const auto x = points(2);
  KMeansOptions o = options(KMeansInit::random, 50);  // 512 rows for each of n, not of a slab
  const KMeansResult one = expect_same_on_ranks(Rows(x.view()), o);
  CHECK(one.skipped > 0);
}

TEST_CASE("k-means on ranks: one feature", "[kmeans][ranks]") {
  const auto x = points(1);
  const KMeansOptions o = options(GENERATE(KMeansInit::random, KMeansInit::plus_plus, KMeansInit::parallel), 60);
  const KMeansResult one = expect_same_on_ranks(Rows(x.view()), o, none_or_some_weights());
  CHECK(one.skipped == 0);
}

TEST_CASE("k-means on ranks: empty clusters take the farthest rows of all ranks", "[kmeans][ranks]") {
  const auto x = points();
  Matrix<double> centers(10, x.cols());
  for (index_t m = 0; m < centers.rows(); ++m)
    for (index_t j = 0; j < centers.cols(); ++j) centers(m, j) = m < 4 ? 2 * static_cast<double>(m) : 1e4;
  KMeansOptions o = from_centers(centers);
  o.max_iter = 5;
  const KMeansResult one = expect_same_on_ranks(Rows(x.view()), o, none_or_some_weights());
  CHECK(one.relocated >= 6);
}

TEST_CASE("k-means on ranks: equally far rows go by their number among all rows", "[kmeans][ranks]") {
  auto x = Matrix<double>::zeros(n, 1);
  for (index_t i = 0; i < n; ++i) x(i, 0) = i % 2 == 0 ? -1 : 1;
  const auto centers = matrix(2, 1, {0, 100});
  KMeansOptions o = from_centers(centers);
  o.max_iter = 1;
  const KMeansResult one = expect_same_on_ranks(Rows(x.view()), o);
  CHECK(one.relocated == 1);
}

TEST_CASE("k-means on ranks: fewer distinct points than clusters", "[kmeans][ranks]") {
  Matrix<double> x(n, 2);
  for (index_t i = 0; i < n; ++i) x(i, 0) = static_cast<double>(i % 3), x(i, 1) = 1;
  KMeansOptions o = options(GENERATE(KMeansInit::random, KMeansInit::plus_plus, KMeansInit::parallel), 5);
  const KMeansResult one = expect_same_on_ranks(Rows(x.view()), o);
  CHECK(one.distinct == 3);
}

TEST_CASE("k-means on ranks: cosine metric, where one rank alone has points without direction", "[kmeans][ranks]") {
  auto x = points();
  for (index_t i = 5000; i < 5004; ++i)
    for (index_t j = 0; j < x.cols(); ++j) x(i, j) = 0;
  KMeansOptions o = options(GENERATE(KMeansInit::random, KMeansInit::plus_plus), 6);
  o.metric = KMeansMetric::cosine;
  const KMeansResult one = expect_same_on_ranks(Rows(x.view()), o);
  CHECK(one.zero_rows == 4);
}

TEST_CASE("k-means on ranks: sparse rows", "[kmeans][ranks]") {
  const auto x = sparse_points();
  KMeansOptions o = options(GENERATE(KMeansInit::random, KMeansInit::plus_plus, KMeansInit::parallel), 7);
  o.metric = GENERATE(KMeansMetric::euclidean, KMeansMetric::cosine);
  o.max_iter = 6;
  (void)expect_same_on_ranks(Rows(x.view()), o);
}

TEST_CASE("k-means on ranks: mini-batch", "[kmeans][ranks]") {
  const auto dense = points();
  const auto sparse = sparse_points();
  KMeansOptions o = options(KMeansInit::plus_plus, 6);
  o.algorithm = KMeansAlgorithm::mini_batch, o.batch = 300, o.max_iter = 1;
  const std::vector<double> weights = none_or_some_weights();
  (void)expect_same_on_ranks(Rows(dense.view()), o, weights);
  (void)expect_same_on_ranks(Rows(sparse.view()), o, weights);
}

TEST_CASE("k-means on ranks: two levels, and a sample", "[kmeans][ranks]") {
  const auto dense = points();
  const auto sparse = sparse_points();
  KMeansOptions o = options(KMeansInit::plus_plus);
  const bool sample = GENERATE(false, true);
  if (sample) o.sample = 400;
  o.algorithm = GENERATE(KMeansAlgorithm::lloyd, KMeansAlgorithm::two_level);
  if (o.algorithm == KMeansAlgorithm::lloyd && !sample) o.tolerance = KMeansTolerance::changed, o.tol = 0.01;
  const std::vector<double> weights = sample ? some_weights() : std::vector<double>();
  const KMeansResult one = expect_same_on_ranks(Rows(dense.view()), o, weights);
  CHECK(one.sampled == (sample ? 4800 : 0));
  (void)expect_same_on_ranks(Rows(sparse.view()), o, weights, true);
}

TEST_CASE("k-means on ranks: rows in blocks, restarts of several numbers of clusters together", "[kmeans][ranks]") {
  const auto x = points();
  KMeansOptions o = options(GENERATE(KMeansInit::random, KMeansInit::plus_plus));
  o.n_init = 2;
  (void)expect_same_on_ranks(Rows(x.view()), o, none_or_some_weights(), true);
  constexpr std::array<index_t, 3> each{2, 5, 8};
  const auto one = kmeans_of_each({}, InBlocks(Rows(x.view())), o, each);
  on_ranks(8, n, [&](const Context& ctx) {
    // A rank may have its rows in memory while others read theirs.
    const InBlocks blocks(here_of(ctx, Rows(x.view())));
    const RowsInMemory memory(here_of(ctx, Rows(x.view())));
    const RowSource& source = ctx.communicator->rank() == 1 ? static_cast<const RowSource&>(memory) : blocks;
    const auto here = kmeans_of_each(ctx, source, o, each);
    const std::lock_guard one_thread(catch_is_for_one_thread);
    REQUIRE(here.size() == one.size());
    for (std::size_t q = 0; q < one.size(); ++q) expect_same_reports(here[q], one[q], here_of(ctx, one[q].labels));
  });
}

TEST_CASE("k-means on ranks: rows that are streamed", "[kmeans][ranks]") {
  const auto x = points();
  const KMeansOptions o = options(KMeansInit::plus_plus);
  const KMeansResult one = solvers::kmeans({}, Rows(x.view()), o);
  on_ranks(8, n, [&](const Context& ctx) {
    const StreamedRows source(RowOrigin::memory(here_of(ctx, Rows(x.view()))), 1);
    const KMeansResult here = solvers::kmeans(ctx, source, o);
    const std::lock_guard one_thread(catch_is_for_one_thread);
    CHECK(here.inertia == one.inertia);
    CHECK(std::equal(here.labels.begin(), here.labels.end(), here_of(ctx, one.labels).begin()));
  });
}
