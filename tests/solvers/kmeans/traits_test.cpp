#include "tallskinny/solvers/kmeans/traits.hpp"

#include "tallskinny/tests/solvers/kmeans/ranks.hpp"

using namespace ts;
using namespace ts::test;

namespace {

ClusterTraits traits_of_rows(const Rows& rows, const Matrix<double>& centers, const Labels& labels,
                             KMeansMetric metric = KMeansMetric::euclidean, index_t most = 3) {
  return traits_of({}, RowsInMemory(rows), centers.cview(), labels, metric, most);
}

}  // namespace

TEST_CASE("traits, by hand", "[kmeans][traits]") {
  // The second feature does not vary; its mean is rounded.
  const auto x = matrix(6, 2, {0, 0.1, 1, 0.1, 5, 0.1, 10, 0.1, 11, 0.1, 12, 0.1}),
             c = matrix(3, 2, {1, 0.1, 11, 0.1, 99, 0.1});
  const Labels labels = {0, 0, 0, 1, 1, 1};
  const double mean = 39.0 / 6, deviation = std::sqrt((0 + 1 + 25 + 100 + 121 + 144) / 6.0 - mean * mean);
  for (const bool sparse : {false, true}) {
    const auto s = to_sparse(x);
    const ClusterTraits t = traits_of_rows(sparse ? Rows(s.view()) : Rows(x.cview()), c, labels);
    REQUIRE(t.deviations.rows() == 3);
    CHECK(t.deviations(0, 0) == Approx((2 - mean) / deviation).epsilon(allowed::many_steps));
    CHECK(t.deviations(1, 0) == Approx((11 - mean) / deviation).epsilon(allowed::many_steps));
    CHECK(t.deviations(0, 1) == 0);
    CHECK(std::isnan(t.deviations(2, 0)));
    CHECK(t.nearest == std::vector<std::vector<index_t>>{{1, 0, 2}, {4, 3, 5}, {}});
  }
  CHECK(traits_of_rows(Rows(x.cview()), c, labels, KMeansMetric::euclidean, 1).nearest[1] == std::vector<index_t>{4});
  CHECK(traits_of_rows(Rows(x.cview()), c, labels, KMeansMetric::euclidean, 0).nearest[1].empty());
  CHECK_THROWS_AS(traits_of_rows(Rows(x.cview()), c, {0, 0, 0, 1, 1, 3}), Error);
  CHECK_THROWS_AS(traits_of_rows(Rows(x.cview()), c, {0}), Error);
}

TEST_CASE("traits for cosine are those of directions", "[kmeans][traits]") {
  const auto x = matrix(4, 2, {3, 0, 500, 0, 0, 2, 0, 0}), c = matrix(2, 2, {1, 0, 0, 1});
  const ClusterTraits t = traits_of_rows(Rows(x.cview()), c, {0, 0, 1, 0}, KMeansMetric::cosine);
  CHECK(t.nearest == std::vector<std::vector<index_t>>{{0, 1, 3}, {2}});
  // The row without a direction counts for the mean of all, 1/2, not for that of its cluster.
  CHECK(t.deviations(0, 0) == Approx(1).epsilon(allowed::many_steps));
  CHECK(t.deviations(1, 0) == Approx(-1).epsilon(allowed::many_steps));
}

TEST_CASE("traits are the same on any number of ranks", "[kmeans][traits][ranks]") {
  const Matrix<double> x = ranks::points();
  const auto c = matrix(3, 5, {0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 40, 40, 40, 40, 40});
  const Rows all(x.cview());
  const Labels labels = predict({}, all, c.view()).labels;
  const ClusterTraits one = traits_of_rows(all, c, labels);
  for (const index_t row : one.nearest[1]) CHECK(labels[static_cast<std::size_t>(row)] == 1);
  for (const int ranks : ranks::some_ranks)
    ranks::on_ranks(ranks, ranks::n, [&](const Context& ctx) {
      const RowsInMemory here(ranks::here_of(ctx, all));
      const ClusterTraits t = traits_of(ctx, here, c.cview(), ranks::here_of(ctx, labels));
      const std::scoped_lock lock(ranks::catch_is_for_one_thread);
      CHECK(t.nearest == one.nearest);
      CHECK(std::equal(t.deviations.data(), t.deviations.data() + 15, one.deviations.data()));
    });
}
