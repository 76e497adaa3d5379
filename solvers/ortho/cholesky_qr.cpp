// Cholesky QR: once, twice, and after a shifted first step.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho::detail {

namespace {

/// ||G - I||_F
template <class T>
double distance_to_identity(HostView<const T> g) {
  double squares = 0;
  for (index_t i = 0; i < g.rows(); ++i)
    for (index_t j = 0; j < g.cols(); ++j) squares += std::norm(g(i, j) - (i == j ? T{1} : T{0}));
  return std::sqrt(squares);
}

}  // namespace

template <class T>
bool cholesky_step(Tall<T>& tall, Matrix<T> g, PlacedView<T> x, HostView<T> r) {
  if (!cholesky(g.view())) return false;
  tall.solve(x, g.cview());
  multiply_left<T>(g.cview(), r);
  return true;
}

template <class T>
bool two_cholesky_steps(Tall<T>& tall, Matrix<T> g, PlacedView<T> x, HostView<T> r) {
  if (!cholesky_step(tall, std::move(g), x, r)) return false;
  // The second loses u times the condition of its factor, which pivots do not tell: those of Kahan's matrix are near 1.
  constexpr double farthest = 0.5;
  auto second = gram_of<T>(tall, x);
  if (!(distance_to_identity<T>(second.cview()) <= farthest) || !cholesky(second.view())) return false;
  tall.solve(x, second.cview());
  multiply_left<T>(second.cview(), r);
  return true;
}

template <class T>
Factored factorise(Tall<T>& tall, ShiftedCholQr3, PlacedView<T> x, HostView<T> r) {
  const auto n = static_cast<double>(all_rows(tall.context(), x.rows())), b = static_cast<double>(x.cols());
  // s = 11 (m n + n (n + 1)) u ||X||_2^2 for an m x n block; columns are scaled to norm 1, so ||X||^2 <= b.
  const double shift = std::min(11 * (n * b + b * (b + 1)) * roundoff_of<T> * b, 0.1);
  auto shifted = gram_of<T>(tall, x);
  for (index_t j = 0; j < x.cols(); ++j) shifted(j, j) *= static_cast<real_t<T>>(1 + shift);
  const bool success =
      cholesky_step(tall, std::move(shifted), x, r) && two_cholesky_steps(tall, gram_of<T>(tall, x), x, r);
  return success ? Factored{x.cols(), Rung::shifted, {}} : Factored{};
}

#define TS_INSTANTIATE(T) template Factored factorise<T>(Tall<T>&, ShiftedCholQr3, PlacedView<T>, HostView<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, cholesky_step)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, two_cholesky_steps)

}  // namespace ts::inline v0::ortho::detail
