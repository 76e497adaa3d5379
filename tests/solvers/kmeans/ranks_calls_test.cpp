// Calls of all ranks beside whole runs: going on, predicting, checking, refusing.
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/tests/solvers/kmeans/ranks.hpp"

using namespace ts;
using namespace ts::test;
using namespace ts::test::ranks;

TEST_CASE("k-means on ranks: a run that stops on one goes on with another number of ranks", "[kmeans][ranks]") {
  const auto x = points();
  const std::vector<double> weights = some_weights();
  KMeansOptions o = options(KMeansInit::random);
  o.weights = weights, o.n_init = 2, o.max_iter = 8;
  const KMeansResult one = solvers::kmeans({}, Rows(x.view()), o);
  KMeansState kept;
  kept.labels.resize(n);
  on_ranks(3, n, [&](const Context& ctx) {
    const int rank = ctx.communicator->rank();
    KMeansOptions here = o;
    here.weights = here_of(ctx, weights);
    KMeansState last;
    here.on_state = [&](const std::function<KMeansState()>& make) { last = make(); };
    // One rank alone asks to stop, another watches nothing.
    if (rank != 2)
      here.on_progress = [&](const KMeansProgress& now) { return !(rank == 1 && now.run == 1 && now.iteration == 3); };
    const KMeansResult stopped = solvers::kmeans(ctx, here_of(ctx, Rows(x.view())), here);
    const std::lock_guard one_thread(catch_is_for_one_thread);
    CHECK(stopped.stop == KMeansStop::interrupted);
    std::copy(last.labels.begin(), last.labels.end(), kept.labels.begin() + first_row(ctx));
    if (rank != 0) return;
    last.labels.swap(kept.labels);
    kept = std::move(last);
  });
  CHECK(kept.run == 1);
  on_ranks(4, n, [&](const Context& ctx) {
    KMeansState state{.run = kept.run,
                      .iteration = kept.iteration,
                      .relocated = kept.relocated,
                      .centers = Matrix<double>::copy_of(kept.centers.cview()),
                      .best_centers = Matrix<double>::copy_of(kept.best_centers.cview()),
                      .best_inertia = kept.best_inertia,
                      .best_run = kept.best_run,
                      .best_n_iter = kept.best_n_iter,
                      .best_relocated = kept.best_relocated,
                      .best_stop = kept.best_stop};
    const auto labels = here_of(ctx, kept.labels);
    state.labels.assign(labels.begin(), labels.end());
    KMeansOptions here = o;
    here.weights = here_of(ctx, weights), here.resume = &state;
    const KMeansResult found = solvers::kmeans(ctx, here_of(ctx, Rows(x.view())), here);
    const std::lock_guard one_thread(catch_is_for_one_thread);
    CHECK(found.inertia == one.inertia);
    CHECK(found.n_iter == one.n_iter);
    CHECK(found.sizes == one.sizes);
    CHECK(std::equal(found.labels.begin(), found.labels.end(), here_of(ctx, one.labels).begin()));
  });
}

TEST_CASE("predict, verify, transform and measure on ranks", "[kmeans][ranks]") {
  auto x = points();
  for (index_t j = 0; j < x.cols(); ++j) x(9000, j) = 0;
  const KMeansMetric metric = GENERATE(KMeansMetric::euclidean, KMeansMetric::cosine);
  const std::vector<double> weights = some_weights();
  const Rows rows(x.view());
  const KMeansResult fit = solvers::kmeans({}, rows, options(KMeansInit::random, 6));
  const auto centers = fit.centers.cview();
  const KMeansPrediction one = predict({}, rows, centers, metric, weights);
  const KMeansMeasures measured = measure({}, RowsInMemory(rows), centers, one.labels, metric, weights);
  const Matrix<double> far = transform({}, rows, centers, metric);
  std::vector<std::int32_t> wrong = one.labels;
  for (std::size_t i = 0; i < wrong.size(); i += 3) wrong[i] = (wrong[i] + 1) % 6;
  const index_t misassigned = verify({}, rows, centers, wrong, metric);
  const index_t in_sample = verify({}, rows, centers, wrong, metric, 500);
  CHECK(misassigned > n / 4);
  for (const int ranks : some_ranks) {
    CAPTURE(ranks);
    on_ranks(ranks, n, [&](const Context& ctx) {
      const Rows here = here_of(ctx, rows);
      const auto weights_here = here_of(ctx, weights);
      const KMeansPrediction found = predict(ctx, here, centers, metric, weights_here);
      const index_t wrong_of_all = verify(ctx, here, centers, here_of(ctx, wrong), metric);
      const index_t wrong_of_sample = verify(ctx, here, centers, here_of(ctx, wrong), metric, 500);
      const KMeansMeasures m = measure(ctx, RowsInMemory(here), centers, found.labels, metric, weights_here);
      const Matrix<double> distances = transform(ctx, here, centers, metric);
      const std::lock_guard one_thread(catch_is_for_one_thread);
      CHECK(std::equal(found.labels.begin(), found.labels.end(), here_of(ctx, one.labels).begin()));
      CHECK(found.inertia == one.inertia);
      CHECK(found.sizes == one.sizes);
      CHECK(found.rescored == one.rescored);
      CHECK(found.zero_rows == one.zero_rows);
      CHECK(wrong_of_all == misassigned);
      CHECK(wrong_of_sample == in_sample);
      CHECK(m.simplified_silhouette == measured.simplified_silhouette);
      CHECK(m.davies_bouldin == measured.davies_bouldin);
      CHECK(m.calinski_harabasz == measured.calinski_harabasz);
      CHECK(std::equal(distances.data(), distances.data() + distances.rows() * 6, far.data() + first_row(ctx) * 6));
    });
  }
}

TEST_CASE("k-means on ranks: what is wrong on one is told by all in the same words", "[kmeans][ranks]") {
  const auto x = points();
  const auto told = [&](const Rows& rows, KMeansOptions o, const std::vector<double>& weights) {
    std::vector<std::string> sentences(3);
    on_ranks(3, n, [&](const Context& ctx) {
      KMeansOptions here = o;
      here.weights = here_of(ctx, weights);
      sentences[static_cast<std::size_t>(ctx.communicator->rank())] =
          message_of([&] { (void)solvers::kmeans(ctx, here_of(ctx, rows), here); });
    });
    CHECK(sentences[1] == sentences[0]);
    CHECK(sentences[2] == sentences[0]);
    o.weights = weights;
    CHECK(sentences[0] == message_of([&] { (void)solvers::kmeans({}, rows, o); }));
    return sentences[0];
  };
  KMeansOptions o = options(KMeansInit::random);
  o.metric = GENERATE(KMeansMetric::euclidean, KMeansMetric::cosine);
  auto broken = Matrix<double>::copy_of(x.cview());
  broken(20000, 2) = broken(25000, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(mentions(told(Rows(broken.view()), o, {}), "row 20000, column 2"));
  auto sparse = sparse_points();
  sparse.values.back() = std::numeric_limits<double>::infinity();
  CHECK(mentions(told(Rows(sparse.view()), o, {}), "row 25999"));
  std::vector<double> weights = some_weights();
  weights[23000] = -1;
  CHECK(mentions(told(Rows(x.view()), o, weights), "point 23000"));
  CHECK(told(Rows(x.view()), o, std::vector<double>(n, 0.0)).find("all weights are zero") == 0);
  auto close = Matrix<double>::zeros(n, 2);
  close(n - 1, 0) = 0x1p-490;  // of ranks before the last all rows are equal
  if (o.metric == KMeansMetric::euclidean) CHECK(mentions(told(Rows(close.view()), o, {}), "less than 2^-480"));
  CHECK(mentions(told(Rows(Matrix<double>::zeros(n, 2).view()), options(KMeansInit::random, n + 1), {}), "26001"));
}

TEST_CASE("k-means on ranks: an error in a call that is told of progress ends all", "[kmeans][ranks]") {
  const auto x = points();
  on_ranks(3, n, [&](const Context& ctx) {
    KMeansOptions o = options(KMeansInit::random);
    o.on_progress = [&](const KMeansProgress& now) {
      if (ctx.communicator->rank() == 2 && now.iteration == 2) throw Error(Errc::io_failure, "the disk is full");
      return true;
    };
    const std::string said = message_of([&] { (void)solvers::kmeans(ctx, here_of(ctx, Rows(x.view())), o); });
    const std::lock_guard one_thread(catch_is_for_one_thread);
    CHECK(said == "the disk is full");
  });
}

TEST_CASE("k-means on ranks: slabs that begin within a chunk, and what needs all rows in one place",
          "[kmeans][ranks]") {
  const auto x = points();
  const auto refused = [&](const RowSlabs& slabs, const KMeansOptions& o, const char* why) {
    on_ranks(2, n, [&](const Context& given) {
      Context ctx = given;
      ctx.slabs = slabs;
      const std::string said = message_of([&] { (void)solvers::kmeans(ctx, here_of(given, Rows(x.view())), o); });
      const std::lock_guard one_thread(catch_is_for_one_thread);
      CAPTURE(said);
      CHECK(mentions(said, why));
    });
  };
  KMeansOptions o = options(KMeansInit::random);
  refused(RowSlabs({0, 5000, n}), o, "not at row 5000");
  refused(RowSlabs({0, 8192, n}), o, "rank 0 has 12288 rows and a slab of 8192");
  refused({}, o, "Context::slabs");
  const RowSlabs fitting = RowSlabs::of_pieces(n, 2, chunk_rows);
  o.algorithm = KMeansAlgorithm::bisecting;
  refused(fitting, o, "on one rank");
  o.algorithm = KMeansAlgorithm::balanced;
  refused(fitting, o, "on one rank");
}
