// Runs of k-means for tests.
#pragma once

#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/solvers/kmeans/measures.hpp"
#include "tallskinny/tests/solvers/kmeans/everywhere.hpp"

namespace ts::test {

using namespace ts::solvers;
template <class T = double>
Matrix<T> matrix(index_t rows, index_t cols, std::initializer_list<double> values) {
  Matrix<T> m(rows, cols);
  std::transform(values.begin(), values.end(), m.data(), [](double v) { return static_cast<T>(v); });
  return m;
}

template <class T>
CsrMatrix<T> to_sparse(const Matrix<T>& x) {
  return csr_by_rows<T>(x.rows(), x.cols(), [&](index_t i, auto add) {
    for (index_t j = 0; j < x.cols(); ++j)
      if (x(i, j) != T{0}) add(j, x(i, j));
  });
}

/// A context of so many threads.
inline Context on_threads(int threads) { return Context{.threads = threads}; }

inline KMeansOptions from_centers(const Matrix<double>& centers) {
  KMeansOptions o{.clusters = centers.rows(), .init = KMeansInit::given, .centers = centers.view()};
  return o;
}

using Labels = std::vector<std::int32_t>;

/// Adjusted Rand index of two labellings, whatever the numbers of the labels.
inline double adjusted_rand_index(const Labels& a, const Labels& b) {
  const auto count = [](const Labels& labels) { return *std::max_element(labels.begin(), labels.end()) + 1; };
  return solvers::adjusted_rand_index({}, a, b, count(a), count(b));
}

inline bool same_bits(const KMeansResult& a, const KMeansResult& b) {
  return a.labels == b.labels && a.inertia == b.inertia && a.n_iter == b.n_iter && a.run == b.run && a.stop == b.stop &&
         a.relocated == b.relocated &&
         std::equal(a.centers.data(), a.centers.data() + a.centers.rows() * a.centers.cols(), b.centers.data());
}

/// Labels, centres and inertia belong together.
inline void check_consistent(const Rows& rows, const KMeansResult& r, std::span<const double> weights = {}) {
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

}  // namespace ts::test
