// What the sparse factorisations share. Holds Eigen: for the .cpp files of this folder alone.
#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tallskinny/gemm/backend/profile.hpp"
#include "tallskinny/solvers/eigen/krylov.hpp"
#include "tallskinny/solvers/eigen/schur.hpp"

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

/// |eigenvalues| of a small matrix.
template <bool hermitian, class T>
std::vector<double> magnitudes_of(const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& h) {
  std::vector<double> magnitudes;
  if constexpr (hermitian) {
    const auto values =
        Eigen::SelfAdjointEigenSolver<std::decay_t<decltype(h)>>(h, Eigen::EigenvaluesOnly).eigenvalues();
    for (const double v : values) magnitudes.push_back(std::abs(v));
  } else {
    Matrix<T> copy(h.rows(), h.cols());
    for (index_t i = 0; i < h.rows(); ++i)
      for (index_t j = 0; j < h.cols(); ++j) copy(i, j) = h(i, j);
    const auto schur = schur_of<T>(copy.cview());
    for (index_t i = 0; i < schur.size(); ++i) magnitudes.push_back(std::abs(schur.value(i)));
  }
  return magnitudes;
}

/// How near to the shift of M = A - sigma I the eigenvalues begin that are not on it (nearer than 1e-10
/// norm), by inverse iteration with a few columns; 0 when those see none. Body::hermitian: whether M is.
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
    const auto inverses = magnitudes_of<Body::hermitian, T>(q.adjoint() * y);
    distance = 0;
    for (index_t j = 0; j < width; ++j) {
      const double nu = inverses[static_cast<std::size_t>(j)];
      if (nu * norm < 1e10 && (distance == 0 || nu > 1 / distance)) distance = 1 / nu;
    }
  }
  return distance;
}

inline std::string shift_text(double x, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, x);
  return text;
}
inline std::string shift_text(std::complex<double> z, int digits) {
  const auto imaginary = shift_text(z.imag(), digits);
  return shift_text(z.real(), digits) + (imaginary.front() == '-' ? "" : "+") + imaginary + "i";
}

/// Tries sigma, then shifts beside it: `factorise()` of the body is called with body.sigma set. An eigenvalue
/// at the shift would drown all others in the rounding of its huge inverse: the less the farther the shift is
/// from it, but the others should stay where they are as seen from the shift.
template <class T, class Body, class Shift, class Factorise>
void settle_shift(Body& body, Shift sigma, double norm, double mass_norm, const Factorise& factorise) {
  constexpr double largest_growth = 1e13, of_distance = 1e-5, least_move = 1e-12, usual_move = 1e-7;
  const double unit = (norm > 0 ? norm : 1) / (mass_norm > 0 ? mass_norm : 1);
  const auto usable = [&] { return factorise() && inverse_norm<T>(body) * norm < largest_growth; };
  body.sigma = sigma;
  if (body.n == 0 || usable()) return;
  double move = usual_move;
  body.sigma = sigma - least_move * unit;
  if (factorise()) {
    const double others = distance_of_others<T>(body, norm) / unit;
    if (others > 0) move = std::clamp(of_distance * others, least_move, of_distance);
  }
  for (int attempt = 0; attempt < 4; ++attempt, move *= 4.0 / 3) {
    body.sigma = sigma - move * unit;
    body.note = "the matrix minus " + shift_text(sigma, 6) +
                " times the identity (or the mass matrix) is singular to rounding; the shift was moved to " +
                shift_text(body.sigma, 17);
    if (usable()) return;
  }
  throw Error(Errc::invalid_argument,
              "the matrix minus --sigma times the identity (or the mass matrix) cannot be factorised; choose "
              "another --sigma");
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
