#include "tallskinny/solvers/kmeans/axes.hpp"

#include <algorithm>

#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t sample_rows = 2048, more_columns = 16;  ///< of a random block than axes

/// `count` rows here, evenly spread, less the shift, of coordinates about 1.
Matrix<float> spread_rows(const KMeansProblem& p, index_t count) {
  const index_t d = p.cols();
  std::vector<index_t> numbers(at(count));
  for (index_t q = 0; q < count; ++q) numbers[at(q)] = q * p.rows() / count;
  Matrix<double> rows(count, d);
  p.load_rows_here(numbers, rows.view());
  const double scale = 1 / std::max(1e-300, *std::max_element(p.moments.reach.begin(), p.moments.reach.end()));
  Matrix<float> sample(count, d);
  for (index_t q = 0; q < count; ++q)
    for (index_t j = 0; j < d; ++j) sample(q, j) = static_cast<float>((rows(q, j) - p.moments.shift[at(j)]) * scale);
  return sample;
}

/// Q with Q R = Z and orthonormal columns, as many as Z has dimensions; to rounding after two rounds (Fukaya et al.
/// 2014, "CholeskyQR2").
Matrix<double> orthonormal(const Context& ctx, Matrix<double> z, int rounds) {
  Matrix<double> g(z.cols(), z.cols());
  for (int round = 0; round < rounds; ++round) {
    gram(ctx, Op::transpose, 1.0, z.cview(), 0.0, g.view());
    if (!ortho::cholesky(g.view(), 1e-10)) return ortho::pivoted_qr(z.cview(), 1e-6).q;
    trsm(ctx, z.view(), g.cview());
  }
  return z;
}

template <class To, class From>
Matrix<To> converted(const Matrix<From>& from) {
  Matrix<To> to(from.rows(), from.cols());
  std::transform(from.data(), from.data() + from.rows() * from.cols(), to.data(),
                 [](From x) { return static_cast<To>(x); });
  return to;
}

}  // namespace

Matrix<double> leading_axes(const KMeansProblem& p, index_t most) {
  Context ctx = p.ctx;
  ctx.stream = {};
  const index_t d = p.cols(), width = std::min(d, most + more_columns);
  const Matrix<float> a = spread_rows(p, std::min(p.rows(), sample_rows));
  Matrix<float> y(a.rows(), width), z(d, width);
  const Random random(0, 0);
  for (index_t q = 0; q < d * width; ++q)
    z.data()[q] = static_cast<float>(random.uniform(static_cast<std::uint64_t>(q)) - 0.5);
  Matrix<double> axes;
  for (int step = 0; step < 2; ++step) {
    tsmm(ctx, Op::none, 1.0F, a.cview(), z.cview(), 0.0F, y.view());          // Y = A Z
    tsmttsm(ctx, Op::transpose, 1.0F, a.cview(), y.cview(), 0.0F, z.view());  // Z = A^T Y
    axes = orthonormal(ctx, converted<double>(z), 1);
    if (axes.cols() == 0) return axes;  // all rows are equal
    z = converted<float>(axes), y = Matrix<float>(a.rows(), z.cols());
  }
  // Eigenvectors of Q^T A^T A Q turn axes into the order of their variances.
  tsmm(ctx, Op::none, 1.0F, a.cview(), z.cview(), 0.0F, y.view());
  Matrix<float> g(z.cols(), z.cols());
  gram(ctx, Op::transpose, 1.0F, y.cview(), 0.0F, g.view());
  const Matrix<double> wide = converted<double>(g);
  const auto eigen = ortho::hermitian_eigen<double>(wide.cview());
  const index_t kept = std::min(most, z.cols());
  Matrix<double> turn(z.cols(), kept), turned(d, kept);
  for (index_t i = 0; i < z.cols(); ++i)
    for (index_t j = 0; j < kept; ++j) turn(i, j) = eigen.vectors(i, z.cols() - 1 - j);
  tsmm(ctx, Op::none, 1.0, axes.cview(), turn.cview(), 0.0, turned.view());
  return orthonormal(ctx, std::move(turned), 2);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
