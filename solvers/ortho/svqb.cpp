// SVQB, repeated on the weak directions.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho::detail {

namespace {

/// Columns that are more than noise, and the lengths that all columns are measured by.
template <class T>
struct Alive {
  std::vector<index_t> columns;
  std::vector<real_t<T>> lengths;
};

/// Nothing for NaN.
template <class T>
std::optional<Alive<T>> alive_columns(Tall<T>& tall, PlacedView<T> x, const std::vector<double>& noise) {
  Alive<T> alive{{}, std::vector<real_t<T>>(at(x.cols()))};
  auto& lengths = alive.lengths;
  tall.norms(x, lengths);
  double longest = 0, least_noise = INFINITY;
  for (index_t j = 0; j < x.cols(); ++j) {
    if (!std::isfinite(lengths[at(j)])) return std::nullopt;
    if (!(lengths[at(j)] > noise[at(j)])) continue;
    alive.columns.push_back(j);
    longest = std::max<double>(longest, lengths[at(j)]), least_noise = std::min(least_noise, noise[at(j)]);
  }
  // Where rounding of the longest column is noise in all of them, one length for all columns lets a direction
  // count by what it holds of the block; a short column of its own length would bring its noise to the long.
  if (least_noise >= roundoff_of<T> * longest) lengths.assign(lengths.size(), static_cast<real_t<T>>(longest));
  return alive;
}

/// The noise of weak directions, U(:, strong ...) of unit columns. Dropping one takes u_ij times its length
/// from unit column i: no column may lose more than its own noise, however noisy the others that the direction
/// is made of.
template <class T>
std::vector<double> noise_of_weak(const Alive<T>& alive, const std::vector<double>& noise, const Matrix<T>& u,
                                  index_t strong) {
  std::vector<double> weak;
  for (index_t j = strong; j < u.cols(); ++j) {
    double least = INFINITY;
    for (index_t i = 0; i < u.rows(); ++i) {
      const std::size_t from = at(alive.columns[at(i)]);
      least = std::min(least, noise[from] / (alive.lengths[from] * std::abs(u(i, j))));
    }
    weak.push_back(least + 4 * roundoff_of<T>);
  }
  return weak;
}

/// One level of Svqb: noise[j] is the norm up to which column j is noise. Returns the rank, or -1 for NaN.
template <class T>
index_t svqb_level(Tall<T>& tall, PlacedView<T> x, const std::vector<double>& noise, HostView<T> r) {
  set_zero(r);
  if (x.cols() == 0) return 0;
  const auto found = alive_columns(tall, x, noise);
  if (!found) return -1;
  const auto& [alive, lengths] = *found;
  const auto a = static_cast<index_t>(alive.size());
  if (a == 0) return 0;

  // Columns in units of their lengths, then G = U diag(lambda) U^H.
  auto scale = Matrix<T>::zeros(x.cols(), a);
  for (index_t c = 0; c < a; ++c) scale(alive[at(c)], c) = T{1} / lengths[at(alive[at(c)])];
  tall.multiply(x, scale.cview());
  const auto unit = x.cols(0, a);
  const auto e = hermitian_eigen<T>(gram_of<T>(tall, unit).cview());
  const real_t<T> largest = e.values.back();
  if (!std::isfinite(largest)) return -1;

  // Directions by falling strength: X D^-1 U = [strong, weak]. Strong ones (down to u^1/4 of the strongest)
  // can be normalised by the Gram matrix without losing more than half the digits, which two Cholesky steps give back.
  Matrix<T> u(a, a);
  for (index_t c = 0; c < a; ++c)
    for (index_t i = 0; i < a; ++i) u(i, c) = e.vectors(i, a - 1 - c);
  index_t strong = 0;
  const auto cut = static_cast<real_t<T>>(std::sqrt(roundoff_of<T>));
  while (strong < a && e.values[at(a - 1 - strong)] > cut * largest) ++strong;
  tall.multiply(unit, u.cview());
  const auto q = x.cols(0, strong);
  auto upper = Matrix<T>::zeros(a, a);  // [strong, weak] = Q upper
  auto r_strong = Matrix<T>(strong, strong);
  set_identity(r_strong.view());
  if (!two_cholesky_steps(tall, gram_of<T>(tall, q), q, r_strong.view())) return -1;
  copy<T>(r_strong.view(), upper.view().block(0, 0, strong, strong));

  index_t rank = strong;
  if (strong < a) {
    const index_t w = a - strong;
    const auto weak = x.cols(strong, w);
    for (int pass = 0; pass < 2; ++pass) {
      Matrix<T> c(strong, w);
      tall.inner(q, weak, c.view());
      tall.subtract(q, c.cview(), weak);
      add<T>(upper.view().block(0, strong, strong, w), c.cview());
    }
    Matrix<T> r_weak(w, w);
    const index_t more = svqb_level<T>(tall, weak, noise_of_weak(*found, noise, u, strong), r_weak.view());
    if (more < 0) return -1;
    copy<T>(r_weak.view().rows(0, more), upper.view().block(strong, strong, more, w));
    rank += more;
  }
  for (index_t i = 0; i < rank; ++i)  // X = Q upper U^H D
    for (index_t j = 0; j < a; ++j) {
      T sum{};
      for (index_t k = 0; k < a; ++k) sum += upper(i, k) * conjugate(u(j, k));
      r(i, alive[at(j)]) = sum * lengths[at(alive[at(j)])];
    }
  return rank;
}

}  // namespace

template <class T>
Factored factorise(Tall<T>& tall, Svqb method, PlacedView<T> x, HostView<T> r) {
  const std::vector<double> noise(at(x.cols()), method.dead);
  const index_t rank = svqb_level<T>(tall, x, noise, r);
  if (rank < 0) return {};
  // Between levels some digits are lost; Q is near enough to orthonormal for one Cholesky QR to mend it.
  const auto q = x.cols(0, rank);
  if (!cholesky_step<T>(tall, gram_of<T>(tall, q), q, r.rows(0, rank))) return {};
  return {rank, Rung::svqb, {}};
}

#define TS_INSTANTIATE(T) template Factored factorise<T>(Tall<T>&, Svqb, PlacedView<T>, HostView<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho::detail
