// Quick modes: two levels, a sample, an end when few labels change.
#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

KMeansOptions two_level(index_t k, int refine = 2) {
  KMeansOptions o{.clusters = k, .algorithm = KMeansAlgorithm::two_level, .refine = refine};
  return o;
}

/// Groups of `each` equal points at 0, 10, 20, ...
Matrix<double> equal_groups(index_t count, index_t each) {
  Matrix<double> x(count * each, 1);
  for (index_t i = 0; i < x.rows(); ++i) x(i, 0) = 10 * static_cast<double>(i % count);
  return x;
}

}  // namespace

TEST_CASE("two levels find groups and refine as asked", "[kmeans][quick]") {
  const auto x = equal_groups(9, 5);
  const KMeansResult nine = solvers::kmeans({}, Rows(x.view()), two_level(9));
  CHECK(nine.inertia == 0);
  CHECK(nine.distinct == 9);
  CHECK(nine.converged());
  const auto points = generators::uniform<float>(3000, 4, 3);
  const Rows rows(points.view());
  const KMeansResult r = solvers::kmeans({}, rows, two_level(50));
  CHECK(r.n_iter == 2);
  CHECK(r.stop == KMeansStop::refined);
  check_consistent(rows, r);
  CHECK(same_bits(r, solvers::kmeans(on_threads(1), rows, two_level(50))));
  const KMeansResult none = solvers::kmeans({}, rows, two_level(50, 0)),
                     many = solvers::kmeans({}, rows, two_level(50, 300));
  CHECK(none.n_iter == 0);
  check_consistent(rows, none);
  CHECK(none.inertia > r.inertia);
  CHECK(r.inertia > many.inertia);
  CHECK(many.stop != KMeansStop::refined);
  // Centres are shared by sizes.
  CHECK(*std::max_element(none.sizes.begin(), none.sizes.end()) < 3 * 3000 / 50);
  const test::InBlocks blocks(rows);
  CHECK(same_bits(r, solvers::kmeans({}, blocks, two_level(50))));
}

TEST_CASE("two levels of any number of clusters, sparse, by angle, with weights", "[kmeans][quick]") {
  const auto x = generators::uniform<double>(200, 3, 2);
  for (const index_t k : {1, 2, 3, 199, 200}) {
    const KMeansResult r = solvers::kmeans({}, Rows(x.view()), two_level(k));
    check_consistent(Rows(x.view()), r);
    CHECK(r.distinct == k);
  }
  CHECK(solvers::kmeans({}, Rows(x.view()), two_level(200)).inertia == 0);
  const auto csr = to_sparse(x);
  check_consistent(Rows(csr.view()), solvers::kmeans({}, Rows(csr.view()), two_level(10)));
  std::vector<double> weights(200, 0.0);
  for (std::size_t i = 0; i < 40; ++i) weights[5 * i] = static_cast<double>(1 + i % 3);
  KMeansOptions o = two_level(10);
  o.weights = weights;
  check_consistent(Rows(x.view()), solvers::kmeans({}, Rows(x.view()), o), weights);
  KMeansOptions many = o;
  many.clusters = 60;  // more than rows that weigh something
  CHECK(solvers::kmeans({}, Rows(x.view()), many).inertia < test::allowed::many_steps);
  o.metric = KMeansMetric::cosine;
  const KMeansResult sphere = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(verify({}, Rows(x.view()), sphere.centers.view(), sphere.labels, KMeansMetric::cosine) == 0);
  o.init = KMeansInit::given, o.centers = sphere.centers.view();
  CHECK_THROWS_AS(solvers::kmeans({}, Rows(x.view()), o), Error);
}

TEST_CASE("a sample gives centres, and all rows their labels", "[kmeans][quick]") {
  const generators::Blobs set(6000, 5, 6, 0.3, 10, 50, 2);
  const auto x = generators::blobs<float>(set);
  const Rows rows(x.view());
  KMeansOptions o{.clusters = 6, .sample = 100, .n_init = 3};
  const KMeansResult r = solvers::kmeans({}, rows, o);
  CHECK(r.sampled == 600);
  CHECK(adjusted_rand_index(r.labels, set.labels()) == 1);
  check_consistent(rows, r);
  CHECK(same_bits(r, solvers::kmeans(on_threads(1), rows, o)));
  CHECK(same_bits(r, solvers::kmeans({}, test::InBlocks(rows), o)));
  o.seed = 1;
  CHECK_FALSE(same_bits(r, solvers::kmeans({}, rows, o)));
  o.sample = 1000;  // all of them
  const KMeansResult all = solvers::kmeans({}, rows, o);
  CHECK(all.sampled == 0);
  o.sample = 0;
  CHECK(same_bits(all, solvers::kmeans({}, rows, o)));
  o.sample = 100;
  const std::vector<index_t> counts = {3, 6};
  const auto each = kmeans_of_each({}, RowsInMemory(rows), o, counts);
  CHECK(each[0].sampled == 300);
  CHECK(same_bits(each[1], solvers::kmeans({}, rows, o)));
  o.algorithm = KMeansAlgorithm::two_level;
  check_consistent(rows, solvers::kmeans({}, rows, o));
  o.algorithm = KMeansAlgorithm::bisecting;
  CHECK_THROWS_AS(solvers::kmeans({}, rows, o), Error);
}

TEST_CASE("a sample is of rows that weigh something", "[kmeans][quick]") {
  auto x = equal_groups(4, 100);
  std::vector<double> weights(400, 0.0);
  for (std::size_t i = 0; i < 400; ++i)
    if (i % 4 < 2) weights[i] = 2;
  KMeansOptions o{.clusters = 2, .sample = 20, .weights = weights};
  const KMeansResult r = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(r.sampled == 40);
  CHECK(r.inertia == 0);  // of the two groups that weigh something
  for (std::size_t i = 0; i < 400; ++i) weights[i] = i < 3 ? 1 : 0;
  o.clusters = 4;
  CHECK_THROWS_AS(solvers::kmeans({}, Rows(x.view()), o), Error);
  for (std::size_t i = 0; i < 400; ++i) weights[i] = 1;
  for (index_t i = 0; i < 400; ++i) x(i, 0) = i % 4 == 0 ? 0 : static_cast<double>(i % 3) - 1.5;
  o.clusters = 2, o.metric = KMeansMetric::cosine;
  const KMeansResult sphere = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(sphere.zero_rows == 100);
  CHECK(sphere.notes.size() == 1);
  CHECK(sphere.inertia == 0);
}

TEST_CASE("a run ends when few labels change", "[kmeans][quick]") {
  const auto x = generators::uniform<float>(4000, 3, 4);
  KMeansOptions o{.clusters = 20, .tol = 0.02, .tolerance = KMeansTolerance::changed};
  std::vector<index_t> changed;
  o.on_progress = [&](const KMeansProgress& p) {
    if (p.iteration > 0) changed.push_back(p.changed);
    return true;
  };
  const KMeansResult r = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(r.stop == KMeansStop::tolerance);
  CHECK(std::ssize(changed) == r.n_iter);
  for (std::size_t q = 0; q < changed.size(); ++q) CHECK((changed[q] <= 80) == (q + 1 == changed.size()));
  check_consistent(Rows(x.view()), r);
  o.tol = 0;
  const KMeansResult whole = solvers::kmeans({}, Rows(x.view()), o);
  CHECK(whole.stop == KMeansStop::labels_unchanged);
  o.tolerance = KMeansTolerance::labels;
  CHECK(same_bits(whole, solvers::kmeans({}, Rows(x.view()), o)));
}
