#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/small/schur.hpp"
#include "tallskinny/solvers/eigen/transform/usable_shift_detail.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/random_block.hpp"

namespace ts::inline v0::solvers::detail {

namespace {

/// |eigenvalues| of a small matrix.
template <class T>
std::vector<double> magnitudes_of(HostView<const T> h, bool hermitian) {
  std::vector<double> magnitudes;
  if (hermitian) {
    for (const double value : ortho::hermitian_eigen<T>(h).values) magnitudes.push_back(std::abs(value));
  } else {
    const Schur schur = schur_of<T>(h);
    for (index_t i = 0; i < schur.size(); ++i) magnitudes.push_back(std::abs(schur.value(i)));
  }
  return magnitudes;
}

/// How near to the shift of M = A - sigma I the eigenvalues begin that are not on it (nearer than 1e-10
/// norm), by inverse iteration with a few columns; 0 when those see none.
template <class T, class Shift>
double distance_of_others(const Context& ctx, const ShiftedFactor<T, Shift>& factor, double norm) {
  const index_t n = factor.n;
  Matrix<T> y(n, std::min<index_t>(32, all_rows(ctx, n)));
  fill_random<T>(ctx, 0x5eed, 20, y.view());
  double distance = 0;
  for (int step = 0; step < 4; ++step) {
    Matrix<T> r(y.cols(), y.cols());
    const index_t width = ortho::orthonormalise<T>(ctx, ortho::HouseholderQr{0}, y.view(), r.view()).rank;
    if (width == 0) return 0;
    const Matrix<T> q = Matrix<T>::copy_of(y.cview().cols(0, width));
    y = Matrix<T>(n, width);
    factor.apply(ctx, q.cview(), y.view());
    if (any_rank(ctx, !ortho::all_finite<T>(y.cview()))) return 0;
    Matrix<T> projected(width, width);
    tsmttsm(ctx, Op::adjoint, T{1}, q.cview(), y.cview(), T{0}, projected.view());
    distance = 0;
    for (const double nu : magnitudes_of<T>(projected.cview(), factor.hermitian))
      if (nu * norm < 1e10 && (distance == 0 || nu > 1 / distance)) distance = 1 / nu;
  }
  return distance;
}

std::string shift_text(double x, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, x);
  return text;
}
std::string shift_text(std::complex<double> z, int digits) {
  const auto imaginary = shift_text(z.imag(), digits);
  return shift_text(z.real(), digits) + (imaginary.front() == '-' ? "" : "+") + imaginary + "i";
}

}  // namespace

template <class T>
double norm_from_below(const Context& ctx, index_t n, const BlockMap<T>& b) {
  Matrix<T> x(n, 1), y(n, 1);
  fill_random<T>(ctx, 0x5eed, 2, x.view());
  double growth = 0;
  for (int step = 0; step < 3; ++step) {
    double length = 0;
    column_norms(ctx, x.cview(), std::span<double>(&length, 1));
    for (index_t i = 0; i < n; ++i) x(i, 0) /= length;
    b(ctx, x.cview(), y.view());
    column_norms(ctx, y.cview(), std::span<double>(&growth, 1));
    if (!std::isfinite(growth)) return inf;
    std::swap(x, y);
  }
  return growth;
}

template <class T, class Shift>
void find_usable_shift(const Context& ctx, ShiftedFactor<T, Shift>& factor, Shift sigma, double norm, double mass_norm,
                       const std::function<bool()>& factorise) {
  constexpr double largest_growth = 1e13, of_distance = 1e-5, least_move = 1e-12, usual_move = 1e-7;
  constexpr double least_norm = 1e-140;  // squares of inverses overflow below, and matrices are scaled: this is zero
  const bool is_zero = norm < least_norm;
  const double unit = (is_zero ? 1 : norm) / (mass_norm > 0 ? mass_norm : 1);
  const auto inverse = [&factor](const Context& c, HostView<const T> x, HostView<T> y) { factor.apply(c, x, y); };
  const auto growth = [&] {
    const double known = factor.growth();
    return known > 0 ? known : norm_from_below<T>(ctx, factor.n, inverse) * norm;
  };
  const auto usable = [&] {
    return (!is_zero || std::abs(factor.sigma) >= least_move) && factorise() && growth() < largest_growth;
  };
  factor.sigma = sigma;
  if (all_rows(ctx, factor.n) == 0 || usable()) return;
  double move = usual_move;
  factor.sigma = sigma - least_move * unit;
  if (factorise()) {
    const double others = distance_of_others(ctx, factor, norm) / unit;
    if (others > 0) move = std::clamp(of_distance * others, least_move, of_distance);
  }
  for (int attempt = 0; attempt < 4; ++attempt, move *= 4.0 / 3) {
    factor.sigma = sigma - move * unit;
    factor.note = "the matrix minus " + shift_text(sigma, 6) +
                  " times the identity (or the mass matrix) is singular to rounding; the shift was moved to " +
                  shift_text(factor.sigma, 17);
    if (usable()) return;
  }
  throw Error(Errc::invalid_argument,
              "the matrix minus `target` times the identity (or the mass matrix) cannot be factorised; choose "
              "another `target`");
}

template double norm_from_below(const Context&, index_t, const BlockMap<double>&);
template double norm_from_below(const Context&, index_t, const BlockMap<Complex>&);
template void find_usable_shift(const Context&, ShiftedFactor<double, double>&, double, double, double,
                                const std::function<bool()>&);
template void find_usable_shift(const Context&, ShiftedFactor<Complex, double>&, double, double, double,
                                const std::function<bool()>&);
template void find_usable_shift(const Context&, ShiftedFactor<Complex, Complex>&, Complex, double, double,
                                const std::function<bool()>&);

}  // namespace ts::inline v0::solvers::detail
