// k-means of rows on a GPU: whatever the host does with the same rows and first centres, bit for bit.
#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/variants/batch.hpp"
#include "tallskinny/tests/solvers/kmeans/runs.hpp"
#include "tallskinny/tests/support/copy_there.hpp"

using namespace ts;
using solvers::kmeans;
using solvers::KMeansInit;
using solvers::KMeansOptions;
using solvers::KMeansResult;

namespace {

struct Case {
  index_t n, d, k;
  int levels = 0;     ///< different values of an element; 0: many
  double spread = 1;  ///< of a row about its own of k places; 1: uniform
  bool weighted = false;
};

template <class T>
Matrix<T> points(const Case& c) {
  Matrix<T> x(c.n, c.d);
  const auto number = [&](index_t i, index_t j) {
    const double u = Philox{5, static_cast<std::uint64_t>(j)}.uniform(static_cast<std::uint64_t>(i));
    return c.levels > 0 ? std::floor(u * c.levels) : u;
  };
  for (index_t i = 0; i < c.n; ++i)
    for (index_t j = 0; j < c.d; ++j)
      x(i, j) = narrowed<T>(c.spread * number(i, j) + (1 - c.spread) * number(1000000007 + i % c.k, j));
  return x;
}

/// Points in host memory, and a copy on the device.
template <class T>
struct Both {
  Context ctx;
  Matrix<T> x;
  DeviceMatrix<T> memory;
  Rows here, there;

  explicit Both(const Case& c)
      : ctx(test::device_context()),
        x(points<T>(c)),
        memory(test::copy_there(ctx, x)),
        here(x.cview()),
        there(ctx.stream, memory.cview()) {}
};

template <class T>
void check(const Case& c) {
  INFO("n " << c.n << " d " << c.d << " k " << c.k << " levels " << c.levels << " spread " << c.spread << " type "
            << static_cast<int>(dtype_of<T>));
  const Both<T> both(c);
  const auto& [ctx, x, memory, here, there] = both;
  std::vector<double> weights;
  for (index_t i = 0; c.weighted && i < c.n; ++i) weights.push_back(static_cast<double>(i % 4) / 2);
  KMeansOptions o{.clusters = c.k, .init = KMeansInit::random, .max_iter = 12, .weights = weights, .seed = 3};
  const KMeansResult expected = kmeans(ctx, here, o);
  test::expect_same(kmeans(ctx, there, o), expected);
  test::expect_same(kmeans(ctx, test::InBlocks(there), o), expected);

  for (const auto algorithm : {solvers::KMeansAlgorithm::mini_batch, solvers::KMeansAlgorithm::bisecting}) {
    o.algorithm = algorithm, o.batch = 200;
    test::expect_same(kmeans(ctx, there, o), kmeans(ctx, here, o));
  }
  o.algorithm = solvers::KMeansAlgorithm::two_level;
  test::expect_same(kmeans(ctx, there, o), kmeans(ctx, here, o));
  test::expect_same(kmeans(ctx, test::InBlocks(there), o), kmeans(ctx, here, o));
  o.sample = 5;
  test::expect_same(kmeans(ctx, there, o), kmeans(ctx, here, o));
  o.algorithm = solvers::KMeansAlgorithm::lloyd;
  test::expect_same(kmeans(ctx, there, o), kmeans(ctx, here, o));
  test::expect_same(kmeans(ctx, test::InBlocks(there), o), kmeans(ctx, here, o));
  o.sample = 0;

  for (const KMeansInit init : {KMeansInit::plus_plus, KMeansInit::parallel}) {
    INFO("first centres " << static_cast<int>(init));
    o.init = init, o.n_init = 2;
    const KMeansResult found = kmeans(ctx, there, o);
    test::expect_same(kmeans(ctx, there, o), found);
    test::expect_same(kmeans(ctx, test::InBlocks(there), o), found);
    CHECK(found.inertia <= test::allowed::worse_seeding * kmeans(ctx, here, o).inertia + test::allowed::nine_digits);
    CHECK(solvers::verify(ctx, there, found.centers.cview(), found.labels) == 0);
    const auto predicted = solvers::predict(ctx, there, found.centers.cview(), o.metric, weights);
    CHECK(predicted.labels == found.labels);
    CHECK(predicted.inertia == found.inertia);
    for (const auto metric : {solvers::KMeansMetric::euclidean, solvers::KMeansMetric::cosine}) {
      if (c.levels > 0 && metric == solvers::KMeansMetric::cosine) continue;  // a centre may be zero
      const auto one = solvers::predict(ctx, here, found.centers.cview(), metric, weights);
      const auto once = solvers::predict(ctx, test::InBlocks(there), found.centers.cview(), metric, weights);
      test::expect_same(once, one);
    }
    o.n_init = 0;
    if (solvers::breathing_pays(c.n, c.d, c.k)) test::expect_same(kmeans(ctx, there, o), kmeans(ctx, here, o));
    o.n_init = 1;
    o.init = KMeansInit::given, o.centers = found.centers.cview();
    test::expect_same(kmeans(ctx, there, o), kmeans(ctx, here, o));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("on a device, k-means is that of the host", "[kmeans][sanitize][gpu]", double, float, float16) {
  check<TestType>({1, 3, 1});
  check<TestType>({300, 5, 300});
  check<TestType>({9001, 7, 9, 0, 0.1, true});
}

TEST_CASE("on a device, k-means of more rows, of wide ones, and of many clusters", "[kmeans][gpu]") {
  check<float>({600, 3, 40, 3});  // fewer distinct rows than clusters
  check<float>({50000, 8, 50});
  check<float>({3000, 200, 20});
  check<float16>({20000, 16, 300});
}

TEST_CASE("on a device, k-means of so many clusters that passes confirm labels", "[kmeans][gpu]") {
  const bool clustered = GENERATE(false, true);
  const Case c{20000, 64, 1000, 0, clustered ? 0.3 : 1};
  const Both<float> both(c);
  const auto& [ctx, x, memory, here, there] = both;
  KMeansOptions o{.clusters = c.k, .init = KMeansInit::random, .max_iter = 25, .seed = 3};
  o.tolerance = solvers::KMeansTolerance::labels;
  index_t confirmed = 0;  // passes behind one that changed few labels
  o.on_progress = [&](const solvers::KMeansProgress& p) {
    if (p.changed <= c.n / 16) ++confirmed;
    return true;
  };
  const KMeansResult expected = kmeans(ctx, here, o);
  CHECK(confirmed > 1);
  test::expect_same(kmeans(ctx, there, o), expected);
  test::expect_same(kmeans(ctx, test::InBlocks(there), o), expected);
  CHECK(solvers::verify(ctx, there, expected.centers.cview(), expected.labels) == 0);
}

TEST_CASE("on a device, every iteration tells what it tells on the host", "[kmeans][gpu]") {
  const bool weighted = GENERATE(false, true), empty = GENERATE(false, true);
  INFO("weights " << weighted << " a cluster is empty " << empty);
  const Case c{9001, 12, 7};
  const Both<float> both(c);
  const auto& [ctx, x, memory, here, there] = both;
  std::vector<double> weights;
  for (index_t i = 0; weighted && i < c.n; ++i) weights.push_back(static_cast<double>(i % 4) / 2);
  Matrix<double> first(c.k, c.d);
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d; ++j) first(m, j) = static_cast<double>(x(m * 100, j));
  if (empty) first(2, 1) = first(4, 0) = 50;
  KMeansOptions o{
      .clusters = c.k, .init = KMeansInit::given, .centers = first.cview(), .max_iter = 20, .weights = weights};
  std::vector<double> told;
  o.on_progress = [&told](const solvers::KMeansProgress& p) {
    for (const double each :
         {p.inertia, p.squared_shift, static_cast<double>(p.changed), static_cast<double>(p.relocated)})
      told.push_back(each);
    return true;
  };
  const KMeansResult expected = kmeans(ctx, here, o);
  CHECK((expected.relocated > 0) == empty);
  const std::vector<double> told_here = std::exchange(told, {});
  test::expect_same(kmeans(ctx, there, o), expected);
  CHECK(std::exchange(told, {}) == told_here);
  test::expect_same(kmeans(ctx, test::InBlocks(there), o), expected);
  CHECK(told == told_here);
}

TEST_CASE("on a device, a run goes on from a state", "[kmeans][gpu]") {
  const Case c{20000, 6, 25};
  const Both<float> both(c);
  const auto& [ctx, x, memory, here, there] = both;
  KMeansOptions o{.clusters = c.k, .max_iter = 15, .tolerance = solvers::KMeansTolerance::labels};
  solvers::KMeansState state;
  const KMeansResult straight = kmeans(ctx, there, o);
  o.on_state = [&](const auto& make) {
    if (state.iteration < 5) state = make();
  };
  test::expect_same(kmeans(ctx, there, o), straight);
  REQUIRE(state.iteration == 5);
  o.on_state = {};
  o.resume = &state;
  test::expect_same(kmeans(ctx, there, o), straight);
}

TEST_CASE("k-means of rows on a GPU by several ranks has the bits of one", "[kmeans][gpu]") {
  const Case c{30000, 6, 11, 0, 0.5, GENERATE(false, true)};
  const Both<float> both(c);
  KMeansOptions o{.clusters = c.k,
                  .init = GENERATE(KMeansInit::random, KMeansInit::plus_plus, KMeansInit::parallel),
                  .max_iter = 10};
  std::vector<double> weights;
  for (index_t i = 0; c.weighted && i < c.n; ++i) weights.push_back(static_cast<double>(i % 5));
  o.weights = weights;
  const KMeansResult first = kmeans(both.ctx, both.there, o);
  // First centres of several ranks need not be those of one on a device.
  for (const bool given : {false, true}) {
    KMeansOptions all = o;
    const Matrix<double> centers = Matrix<double>::copy_of(first.centers.cview().rows(0, c.k));
    if (given) all.init = KMeansInit::given, all.centers = centers.view();
    const KMeansResult one = kmeans(both.ctx, both.there, all);
    constexpr int ranks = 4;
    std::vector<KMeansResult> found(ranks);
    const RowSlabs slabs = RowSlabs::of_pieces(c.n, ranks, chunk_rows);
    run_on_threads(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
      const int rank = communicator->rank();
      Context ctx;
      ctx.stream = cuda::Stream(0), ctx.communicator = communicator, ctx.slabs = slabs;
      KMeansOptions here = all;
      if (c.weighted)
        here.weights = all.weights.subspan(static_cast<std::size_t>(slabs.begin(rank)),
                                           static_cast<std::size_t>(slabs.rows(rank)));
      const Rows x(ctx.stream, both.memory.cview());
      found[static_cast<std::size_t>(rank)] = kmeans(ctx, x.block(slabs.begin(rank), slabs.rows(rank)), here);
    });
    std::vector<std::int32_t> labels;
    for (const KMeansResult& r : found) labels.insert(labels.end(), r.labels.begin(), r.labels.end());
    for (const KMeansResult& r : found) {
      CHECK(r.inertia == found[0].inertia);
      if (!given && o.init != KMeansInit::random) continue;
      CHECK(r.inertia == one.inertia);
      CHECK(r.n_iter == one.n_iter);
      CHECK(r.sizes == one.sizes);
      CHECK(std::equal(r.centers.data(), r.centers.data() + c.k * c.d, one.centers.data()));
    }
    if (given || o.init == KMeansInit::random) CHECK(labels == one.labels);
  }
}

TEST_CASE("on a device, projections serve several ranks, and rows of fewer dimensions than the plan has axes",
          "[kmeans][projections][gpu]") {
  constexpr index_t n = index_t{1} << 19, d = 512, k = 4096;
  const bool flat = GENERATE(false, true);
  constexpr int ranks = 2;
  Matrix<float16> x(n, d);
  parallel_ranges(Context{}.thread_count(), n, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      const Philox own{5, static_cast<std::uint64_t>(i)}, group{6, static_cast<std::uint64_t>(i % 3000)};
      for (index_t j = 0; j < d; ++j) {
        const auto at = static_cast<std::uint64_t>(j);
        const double v = group.uniform(at) - 0.5 + 0.8 * (own.uniform(at) - 0.5);
        x(i, j) = narrowed<float16>(flat && j >= 50 ? 0.0 : v / std::sqrt(static_cast<double>(j + 1)));
      }
    }
  });
  Context ctx = test::device_context();
  const auto there = test::copy_there(ctx, x);
  KMeansOptions o{
      .clusters = k, .init = KMeansInit::random, .max_iter = 60, .tolerance = solvers::KMeansTolerance::labels};
  const auto run = [&](const Context& of, const Rows& rows, index_t& scored) {
    KMeansOptions here = o;
    int iterations = 0;
    here.on_progress = [&](const solvers::KMeansProgress& now) {
      scored += now.scored;
      return ++iterations < 12;  // of those planned for
    };
    return kmeans(of, rows, here);
  };
  index_t met_by_one = 0;
  const KMeansResult one = run(ctx, Rows(ctx.stream, there.cview()), met_by_one);
  CHECK(met_by_one > 0);
  std::vector<KMeansResult> found(ranks);
  std::vector<index_t> scored(ranks);
  const RowSlabs slabs = RowSlabs::of_pieces(n, ranks, chunk_rows);
  run_on_threads(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
    const int rank = communicator->rank();
    Context of;
    of.stream = cuda::Stream(0), of.communicator = communicator, of.slabs = slabs;
    const Rows all(of.stream, there.cview());
    found[static_cast<std::size_t>(rank)] =
        run(of, all.block(slabs.begin(rank), slabs.rows(rank)), scored[static_cast<std::size_t>(rank)]);
  });
  std::vector<std::int32_t> labels;
  for (int r = 0; r < ranks; ++r) {
    const KMeansResult& of = found[static_cast<std::size_t>(r)];
    labels.insert(labels.end(), of.labels.begin(), of.labels.end());
    CHECK(scored[static_cast<std::size_t>(r)] > 0);
    CHECK(of.inertia == one.inertia);
    CHECK(std::equal(of.centers.data(), of.centers.data() + k * d, one.centers.data()));
  }
  CHECK(labels == one.labels);
  CHECK(solvers::verify(ctx, Rows(ctx.stream, there.cview()), one.centers.cview(), one.labels,
                        solvers::KMeansMetric::euclidean, 5000) == 0);
}

TEST_CASE("a batch of problems on a device has the results of single calls there", "[kmeans][gpu]") {
  constexpr index_t batch = 20;
  const Both<float> both({batch * 3000, 6, 12});
  const auto problems = solvers::equal_blocks(both.there, batch);
  for (const KMeansInit init : {KMeansInit::random, KMeansInit::plus_plus}) {
    KMeansOptions o{.clusters = 40, .init = init, .max_iter = 15, .seed = 3};
    const auto found = solvers::kmeans_batch(both.ctx, problems, o);
    for (std::size_t b = 0; b < found.size(); ++b, ++o.seed)
      test::expect_same(found[b], solvers::kmeans(both.ctx, problems[b], o));
  }
}
