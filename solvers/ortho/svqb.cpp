// SVQB, repeated on the weak directions.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::ortho::detail {

namespace {

/// One level of Svqb: noise[j] is the norm up to which column j is noise. Returns the rank, or -1 for NaN.
template <class T>
index_t svqb_level(Tall<T>& tall, PlacedView<T> x, std::vector<double> noise, HostView<T> r) {
  const index_t b = x.cols();
  set_zero(r);
  if (b == 0) return 0;
  std::vector<real_t<T>> norms(static_cast<std::size_t>(b));
  tall.norms(x, norms);
  std::vector<index_t> alive;
  double longest = 0, least_noise = INFINITY;
  for (index_t j = 0; j < b; ++j) {
    const auto s = static_cast<std::size_t>(j);
    if (!std::isfinite(norms[s])) return -1;
    if (!(norms[s] > noise[s])) continue;
    alive.push_back(j);
    longest = std::max<double>(longest, norms[s]), least_noise = std::min(least_noise, noise[s]);
  }
  const auto a = static_cast<index_t>(alive.size());
  if (a == 0) return 0;
  // Where rounding of the longest column is noise in all of them, one length for all columns lets a direction
  // count by what it holds of the block; a short column of its own length would bring its noise to the long.
  if (least_noise >= roundoff_of<T> * longest) norms.assign(norms.size(), static_cast<real_t<T>>(longest));

  // Columns in units of their lengths, then G = U diag(lambda) U^H.
  auto scale = Matrix<T>::zeros(b, a);
  for (index_t c = 0; c < a; ++c)
    scale(alive[static_cast<std::size_t>(c)], c) =
        T{1} / norms[static_cast<std::size_t>(alive[static_cast<std::size_t>(c)])];
  tall.multiply(x, scale.cview());
  const auto unit = x.cols(0, a);
  const auto g = gram_of<T>(tall, unit);
  const auto e = hermitian_eigen<T>(g.cview());
  const real_t<T> largest = e.values.back();
  if (!std::isfinite(largest)) return -1;

  // Directions by falling strength: X D^-1 U = [strong, weak]. Strong ones (down to u^1/4 of the strongest)
  // can be normalised by the Gram matrix without losing more than half the digits, which CholQr2 gives back.
  Matrix<T> u(a, a);
  for (index_t c = 0; c < a; ++c)
    for (index_t i = 0; i < a; ++i) u(i, c) = e.vectors(i, a - 1 - c);
  index_t strong = 0;
  const auto cut = static_cast<real_t<T>>(std::sqrt(roundoff_of<T>));
  while (strong < a && e.values[static_cast<std::size_t>(a - 1 - strong)] > cut * largest) ++strong;
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
    std::vector<double> weak_noise(static_cast<std::size_t>(w));
    // Dropping a weak direction takes u_ij times its length from unit column i: no column may lose more than
    // its own noise, however noisy the others that the direction is made of.
    for (index_t j = 0; j < w; ++j) {
      double least = INFINITY;
      for (index_t i = 0; i < a; ++i) {
        const auto from = static_cast<std::size_t>(alive[static_cast<std::size_t>(i)]);
        least = std::min(least, noise[from] / (norms[from] * std::abs(u(i, strong + j))));
      }
      weak_noise[static_cast<std::size_t>(j)] = least + 4 * roundoff_of<T>;
    }
    Matrix<T> r_weak(w, w);
    const index_t found = svqb_level<T>(tall, weak, std::move(weak_noise), r_weak.view());
    if (found < 0) return -1;
    copy<T>(r_weak.view().rows(0, found), upper.view().block(strong, strong, found, w));
    rank += found;
  }
  // X = Q upper U^H D
  for (index_t i = 0; i < rank; ++i)
    for (index_t j = 0; j < a; ++j) {
      T sum{};
      for (index_t k = 0; k < a; ++k) sum += upper(i, k) * conjugate(u(j, k));
      const index_t column = alive[static_cast<std::size_t>(j)];
      r(i, column) = sum * norms[static_cast<std::size_t>(column)];
    }
  return rank;
}

}  // namespace

template <class T>
Factored factorise(Tall<T>& tall, Svqb method, PlacedView<T> x, HostView<T> r) {
  std::vector<double> noise(static_cast<std::size_t>(x.cols()), method.dead);
  const index_t rank = svqb_level<T>(tall, x, std::move(noise), r);
  if (rank < 0) return {};
  // Between levels some digits are lost; Q is near enough to orthonormal for one Cholesky QR to mend it.
  const auto q = x.cols(0, rank);
  if (!cholesky_step<T>(tall, gram_of<T>(tall, q), q, r.rows(0, rank))) return {};
  return {rank, Rung::svqb, {}};
}

#define TS_INSTANTIATE(T) template Factored factorise<T>(Tall<T>&, Svqb, PlacedView<T>, HostView<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::ortho::detail
