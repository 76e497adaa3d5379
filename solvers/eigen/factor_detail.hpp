// What the sparse factorisations share. Holds Eigen: for the .cpp files of this folder alone.
#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/backend/profile.hpp"
#include "tallskinny/solvers/eigen/krylov.hpp"

namespace ts::solvers::detail {

template <class T>
using Sparse = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int64_t>;
template <class T>
using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <class T>
Column<T> random_column(index_t n, std::uint64_t stream) {
  Matrix<T> x(n, 1);
  Context ctx;
  ctx.threads = 1;
  fill_random<T>(ctx, 0x5eed, stream, x.view());
  return Eigen::Map<const Column<T>>(x.data(), n);
}

/// ||M^-1|| from below, by three steps of inverse iteration; `body` solves with M.
template <class T, class Body>
double inverse_norm(const Body& body) {
  Column<T> x = random_column<T>(body.n, 2);
  double growth = 0;
  for (int step = 0; step < 3; ++step) {
    x /= x.norm();
    x = body.solve(x);
    growth = x.norm();
    if (!std::isfinite(growth)) return std::numeric_limits<double>::infinity();
  }
  return growth;
}

/// How near to the shift of M = A - sigma I the eigenvalues begin that are not on it (nearer than 1e-10
/// norm), by inverse iteration with a few columns; 0 when those see none.
template <class T, class Body>
double distance_of_others(const Body& body, double norm) {
  using Block = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const index_t width = std::min<index_t>(32, body.n);
  Block y(body.n, width);
  for (index_t j = 0; j < width; ++j) y.col(j) = random_column<T>(body.n, 20 + static_cast<std::uint64_t>(j));
  double distance = 0;
  for (int step = 0; step < 4; ++step) {
    const Block q = Eigen::HouseholderQR<Block>(y).householderQ() * Block::Identity(body.n, width);
    for (index_t j = 0; j < width; ++j) y.col(j) = body.solve(q.col(j));
    if (!y.allFinite()) return 0;
    const Block h = q.adjoint() * y;
    const auto inverses = Eigen::SelfAdjointEigenSolver<Block>(h, Eigen::EigenvaluesOnly).eigenvalues();
    distance = 0;
    for (index_t j = 0; j < width; ++j) {
      const double nu = std::abs(inverses(j));
      if (nu * norm < 1e10 && (distance == 0 || nu > 1 / distance)) distance = 1 / nu;
    }
  }
  return distance;
}

/// Y = f(X), column by column: the bits do not depend on the number of threads.
template <class T, class Function>
void apply_columns(const Context& ctx, const Function& f, HostView<const T> x, HostView<T> y) {
  const index_t n = x.rows(), p = x.cols();
  const Profile::Piece piece(ctx, "solves with factors", {}, std::nullopt);
#pragma omp parallel for num_threads(ctx.thread_count()) schedule(static, 1)
  for (index_t j = 0; j < p; ++j) {
    Column<T> b(n);
    for (index_t i = 0; i < n; ++i) b(i) = x(i, j);
    const Column<T> image = f(b);
    for (index_t i = 0; i < n; ++i) y(i, j) = image(i);
  }
}

}  // namespace ts::solvers::detail
