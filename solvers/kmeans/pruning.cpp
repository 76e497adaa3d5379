#include "tallskinny/solvers/kmeans/pruning_detail.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::solvers::kmeans_detail {

namespace {

constexpr index_t least_columns = 48, least_clusters = 64, least_rows = 4096;  ///< below, nothing is tried
constexpr index_t sample_rows = 2048, more_columns = 16, trial_rows = 64, trial_clusters = 2048;

/// `count` rows here, evenly spread, less the shift.
Matrix<float> spread_rows(const KMeansProblem& p, index_t count) {
  Matrix<float> sample(count, p.cols());
  std::vector<double> row(at(p.cols()));
  const double scale = 1 / std::max(1e-300, *std::max_element(p.moments.reach.begin(), p.moments.reach.end()));
  for (index_t q = 0; q < count; ++q) {
    p.load_here(q * p.rows() / count, row.data());
    for (index_t j = 0; j < p.cols(); ++j)
      sample(q, j) = static_cast<float>((row[at(j)] - p.moments.shift[at(j)]) * scale);
  }
  return sample;
}

/// Q with Q R = Z and orthonormal columns, as many as Z has dimensions; to rounding after two rounds (Fukaya et al. 2014,
/// "CholeskyQR2").
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
  const Context& ctx = p.ctx;
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

double pruned_cost(index_t d, index_t k, index_t columns, double headed, double met) noexcept {
  // Measured on a processor with AVX-512 VNNI: what comes after the products of a group costs as much as 50 columns; a
  // centroid met alone, in 8 bits and sometimes in float32, as much as 2500 more products than it has.
  const double of_head = static_cast<double>(columns) / 2 + 25, of_met = static_cast<double>(d) + 2500;
  return static_cast<double>(k) * (headed * of_head + met * of_met) + of_met;
}

PruningPlan plan_pruning(const KMeansProblem& p, HostView<const double> axes, HostView<const double> centers,
                         std::span<const std::int32_t> labels) {
  const index_t d = p.cols(), k = centers.rows(), width = axes.cols(), few = std::min(k, trial_clusters);
  PruningPlan best;
  best.without = static_cast<double>(k * d);
  // Rows, then some centroids, then those of the labels of the rows.
  const index_t rows = std::min(p.rows(), trial_rows);
  Matrix<float> all(2 * rows + few, d), q(d, width), heads(all.rows(), width);
  for (index_t j = 0; j < d; ++j)
    for (index_t a = 0; a < width; ++a) q(j, a) = static_cast<float>(axes(j, a));
  std::vector<double> row(at(d)), square(at(all.rows()));
  for (index_t i = 0; i < all.rows(); ++i) {
    if (i < rows)
      p.load_here(i * p.rows() / rows, row.data());
    else
      std::copy_n(
          &centers(i < rows + few ? (i - rows) * k / few : std::max(0, labels[at((i - rows - few) * p.rows() / rows)]),
                   0),
          d, row.data());
    for (index_t j = 0; j < d; ++j) {
      const double value = row[at(j)] - p.moments.shift[at(j)];
      all(i, j) = static_cast<float>(value), square[at(i)] += value * value;
    }
  }
  tsmm(p.ctx, Op::none, 1.0F, all.cview(), q.cview(), 0.0F, heads.view());
  std::vector<double> own(at(rows));
  for (index_t i = 0; i < rows; ++i) {
    double product = 0;
    for (index_t j = 0; j < d; ++j)
      product += static_cast<double>(all(i, j)) * static_cast<double>(all(rows + few + i, j));
    own[at(i)] = square[at(rows + few + i)] / 2 - product;
  }
  std::vector<double> tail = square, product(at(rows * few));
  const double headed = 1;
  for (index_t columns = 0; columns + Pruning::columns_step <= width;) {
    for (index_t end = columns + Pruning::columns_step; columns < end; ++columns) {
      for (index_t i = 0; i < all.rows(); ++i)
        tail[at(i)] -= static_cast<double>(heads(i, columns)) * static_cast<double>(heads(i, columns));
      for (index_t i = 0; i < rows; ++i)
        for (index_t m = 0; m < few; ++m)
          product[at(i * few + m)] +=
              static_cast<double>(heads(i, columns)) * static_cast<double>(heads(rows + m, columns));
    }
    index_t survivors = 0;
    for (index_t i = 0; i < rows; ++i)
      for (index_t m = 0; m < few; ++m) {
        const double slack = std::sqrt(std::max(0.0, tail[at(i)]) * std::max(0.0, tail[at(rows + m)]));
        survivors += square[at(rows + m)] / 2 - product[at(i * few + m)] - slack <= own[at(i)] ? 1 : 0;
      }
    const double share = static_cast<double>(survivors) / static_cast<double>(rows * few);
    const double cost = pruned_cost(d, k, columns, headed, share);
    if (best.columns == 0 || cost < best.cost) best.columns = columns, best.survivors = share, best.cost = cost;
  }
  if (best.cost > 0.7 * best.without) best.columns = 0;
  return best;
}

std::unique_ptr<Pruning> pruning_for(const KMeansProblem& p, HostView<const double> centers,
                                     std::span<const std::int32_t> labels) {
  if (p.cols() < least_columns || centers.rows() < least_clusters || p.rows() < least_rows || !Pruning::possible(p.ctx))
    return nullptr;
  bool sparse = false;
  p.for_each_block_here([&](index_t, const Rows& block) { sparse = sparse || block.sparse(); });
  if (sparse) return nullptr;
  const index_t most = std::min({p.cols() / Pruning::columns_step * Pruning::columns_step, index_t{256}});
  const Matrix<double> axes = leading_axes(p, most);
  const PruningPlan plan = plan_pruning(p, axes.cview(), centers, labels);
  if (plan.columns == 0) return nullptr;
  Matrix<double> some(p.cols(), plan.columns);
  for (index_t j = 0; j < p.cols(); ++j) std::copy_n(&axes(j, 0), plan.columns, &some(j, 0));
  auto pruning = std::make_unique<Pruning>(p.ctx, p.rows(), some.cview(), centers.rows(), p.moments);
  p.for_each_block_here([&](index_t first, const Rows& block) { pruning->put(p.ctx, first, block); });
  return pruning;
}

}  // namespace ts::solvers::kmeans_detail
