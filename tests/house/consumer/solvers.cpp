// Eigenvalues, singular values and clusters of what has known ones.
#include <cmath>
#include <cstdio>

#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/svd/svd.hpp"

namespace {

/// diag(1, 2, ..., n)
ts::CsrMatrix<double> diagonal(ts::index_t n) {
  ts::CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (ts::index_t i = 0; i < n; ++i) {
    a.indices.push_back(static_cast<std::int32_t>(i));
    a.values.push_back(static_cast<double>(i + 1));
    a.pointers.push_back(i + 1);
  }
  return a;
}

}  // namespace

int main() {
  const ts::Context ctx;
  const auto a = diagonal(800);
  ts::solvers::EigenOptions options;
  options.nev = 2;
  const ts::solvers::EigenProblem<double> problem{ts::solvers::CsrOperator<double>(a.view())};
  const double largest = ts::solvers::solve_eigen<double>(ctx, problem, options).values.front();

  ts::solvers::SvdProblem<double> rectangular{ts::solvers::rectangular(a.view())};
  const double sigma = ts::solvers::solve_svd(ctx, rectangular, options).triplets.values.front();

  auto points = ts::Matrix<double>::zeros(100, 2);
  for (ts::index_t i = 0; i < 50; ++i) points(i, 0) = 8.0;
  ts::solvers::KMeansOptions two;
  two.clusters = 2;
  const auto clusters = ts::solvers::kmeans(ctx, ts::Rows(points.cview()), two);

  std::printf("%.12g %.12g %g\n", largest, sigma, clusters.inertia);
  return std::abs(largest - 800) < 1e-6 && std::abs(sigma - 800) < 1e-6 && clusters.inertia == 0 &&
                 clusters.labels.front() != clusters.labels.back()
             ? 0
             : 1;
}
