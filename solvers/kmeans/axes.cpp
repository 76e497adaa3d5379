#include "tallskinny/solvers/kmeans/axes.hpp"

#include <algorithm>
#include <numeric>

#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::solvers::kmeans_detail {

Matrix<double> leading_axes(const KMeansProblem& problem, index_t most) {
  const index_t n = problem.rows(), d = problem.cols(), m = std::min(most, d);
  const index_t count = std::min(n, std::max<index_t>(4096, 6 * d));
  std::vector<index_t> numbers(at(count));
  for (index_t i = 0; i < count; ++i) numbers[at(i)] = i * n / count;
  Matrix<double> sample(count, d), gram_matrix(d, d);
  problem.load_rows_here(numbers, sample.view());
  for (index_t i = 0; i < count; ++i)
    for (index_t j = 0; j < d; ++j) sample(i, j) -= problem.moments.mean[at(j)];
  Context on_host = problem.ctx;
  on_host.stream = {};
  gram(on_host, Op::transpose, 1.0, sample.cview(), 0.0, gram_matrix.view());
  const auto pairs =
      ortho::hermitian_pairs<double>(on_host, gram_matrix.cview(), m, [m](const std::vector<double>& of) {
        std::vector<index_t> last(at(m));
        std::iota(last.begin(), last.end(), std::ssize(of) - m);
        return last;
      });
  Matrix<double> axes(d, m);
  for (index_t i = 0; i < d; ++i)
    for (index_t j = 0; j < m; ++j) axes(i, j) = pairs.vectors(i, m - 1 - j);
  return axes;
}

}  // namespace ts::solvers::kmeans_detail
