#include "tallskinny/solvers/eigen/small/schur.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Without the library's recovery from NaN.
Complex product(Complex x, Complex y) noexcept {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// x <- conj(c) x + conj(s) y, y <- c y - s x for numbers side by side.
void rotate_lines(Complex* x, Complex* y, index_t count, Complex c, Complex s) {
  const double cr = c.real(), ci = c.imag(), sr = s.real(), si = s.imag();
  auto *const a = reinterpret_cast<double*>(x), *const b = reinterpret_cast<double*>(y);
  for (index_t j = 0; j < 2 * count; j += 2) {
    const double xr = a[j], xi = a[j + 1], yr = b[j], yi = b[j + 1];
    a[j] = cr * xr + ci * xi + sr * yr + si * yi, a[j + 1] = cr * xi - ci * xr + sr * yi - si * yr;
    b[j] = cr * yr - ci * yi - sr * xr + si * xi, b[j + 1] = cr * yi + ci * yr - sr * xi - si * xr;
  }
}

/// Rotates rows i, i + 1 of T from the left and columns of T and U from the right: T <- G^H T G, U <- U G,
/// where the first column of G in the plane is (c, s). Below its diagonal T has no more than element (i + 1, i).
void rotate(Schur& schur, index_t i, Complex c, Complex s) {
  auto& [t, u, units] = schur;
  const index_t m = t.rows();
  rotate_lines(&t(i, i), &t(i + 1, i), m - i, c, s);
  const auto columns = [&](Matrix<Complex>& x, index_t rows) {
    for (index_t j = 0; j < rows; ++j) {
      const Complex a = x(j, i), b = x(j, i + 1);
      x(j, i) = product(a, c) + product(b, s);
      x(j, i + 1) = product(b, std::conj(c)) - product(a, std::conj(s));
    }
  };
  columns(t, i + 2), columns(u, m);
}

/// Exchanges the diagonal elements i and i + 1: (t_{i,i+1}, t_{i+1,i+1} - t_ii) is the eigenvector of the
/// second.
void swap_adjacent(Schur& schur, index_t i) {
  const Complex a = schur.t(i, i), b = schur.t(i + 1, i + 1), off = schur.t(i, i + 1), d = b - a;
  const double norm = std::hypot(std::abs(off), std::abs(d));
  if (norm == 0) return;
  rotate(schur, i, off / norm, d / norm);
  schur.t(i, i) = b, schur.t(i + 1, i + 1) = a, schur.t(i + 1, i) = 0;
}

}  // namespace

template <class T>
Schur schur_of(HostView<const T> h) {
  const index_t m = h.rows();
  Schur schur{Matrix<Complex>::zeros(m, m), Matrix<Complex>::zeros(m, m), {}};
  if (m == 0) return schur;
  const auto form = ortho::schur_form<T>(h);
  if (!form.converged) throw Error(Errc::bad_input, "the QR algorithm for the Schur form did not converge");
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < m; ++j) schur.t(i, j) = form.t(i, j), schur.u(i, j) = form.u(i, j);
  if constexpr (is_complex<T>) {
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < i; ++j) schur.t(i, j) = 0;
    schur.units.assign(at(m), 1);
  } else {
    for (index_t i = 0; i < m;) {
      const bool pair = i + 1 < m && schur.t(i + 1, i) != 0.0;
      schur.units.push_back(pair ? 2 : 1);
      if (pair) {
        // The 2 x 2 block has the eigenvector (t_{i,i+1}, lambda - t_ii) for lambda, the root with Im > 0.
        const Complex a = schur.t(i, i), b = schur.t(i, i + 1), c = schur.t(i + 1, i), d = schur.t(i + 1, i + 1);
        const Complex half = 0.5 * (a - d), root = std::sqrt(half * half + b * c);
        Complex lambda = 0.5 * (a + d) + root;
        if (lambda.imag() < 0) lambda = 0.5 * (a + d) - root;
        const double norm = std::hypot(std::abs(b), std::abs(lambda - a));
        rotate(schur, i, b / norm, (lambda - a) / norm);
        schur.t(i, i) = lambda, schur.t(i + 1, i + 1) = std::conj(lambda), schur.t(i + 1, i) = 0;
      }
      i += pair ? 2 : 1;
    }
  }
  return schur;
}

void sort_schur(Schur& schur, const std::function<double(Complex)>& key) {
  struct Unit {
    double key;
    index_t size;
  };
  std::vector<Unit> units;
  index_t i = 0;
  for (const index_t size : schur.units) units.push_back({key(schur.value(i)), size}), i += size;
  // Insertion sort: adjacent units change places, element by element.
  for (std::size_t last = 1; last < units.size(); ++last)
    for (std::size_t k = last; k > 0 && units[k].key < units[k - 1].key; --k) {
      index_t first = 0;
      for (std::size_t before = 0; before + 1 < k; ++before) first += units[before].size;
      const index_t p = units[k - 1].size, q = units[k].size;
      for (index_t moved = 0; moved < q; ++moved)  // each of the second unit up over the p of the first
        for (index_t step = p; step-- > 0;) swap_adjacent(schur, first + moved + step);
      std::swap(units[k], units[k - 1]);
    }
  schur.units.clear();
  for (const Unit& unit : units) schur.units.push_back(unit.size);
}

namespace {

/// sum_i x_i y_i, without the library's recovery from NaN in each product.
Complex dot(const Complex* x, const Complex* y, index_t n) noexcept {
  constexpr index_t lanes = 2;  // sums side by side
  double real[lanes] = {}, imaginary[lanes] = {};
  for (index_t i = 0; i < n; ++i) {
    const double a = x[i].real(), b = x[i].imag(), c = y[i].real(), d = y[i].imag();
    real[i % lanes] += a * c - b * d, imaginary[i % lanes] += a * d + b * c;
  }
  return {real[0] + real[1], imaginary[0] + imaginary[1]};
}

struct TriangularVector {
  std::vector<Complex> x;  ///< of length one
  double length = 1;       ///< before that, with element j equal to one; infinite where it overflows
};

/// Solves (T - t_jj) x = 0 from row j upwards, or y^H (T - t_jj) = 0 from column j downwards.
/// @param coupling(x, i) what the elements known so far give for row i.
template <class Coupling>
TriangularVector triangular_vector(const Matrix<Complex>& t, index_t j, bool upwards, double norm,
                                   const Coupling& coupling) {
  const index_t m = t.rows();
  constexpr double large = 0x1p300;
  // Equal eigenvalues are held apart by one rounding; what couples them by no more than rounding is none.
  const double least = std::max(unit_roundoff * norm, 1e-300),
               rounding = 4 * std::sqrt(static_cast<double>(m)) * unit_roundoff * norm;
  TriangularVector v{std::vector<Complex>(at(m)), 1};
  v.x[at(j)] = 1;
  double largest = 1, head = 1;
  for (index_t i = upwards ? j - 1 : j + 1; upwards ? i >= 0 : i < m; i += upwards ? -1 : 1) {
    const Complex sum = coupling(v.x, i), d = t(i, i) - t(j, j);
    if (std::abs(d) <= rounding && std::abs(sum) <= rounding * largest) continue;
    v.x[at(i)] = -sum / (std::abs(d) < least ? Complex(least) : d);
    largest = std::max(largest, std::abs(v.x[at(i)]));
    if (largest < large) continue;
    for (Complex& c : v.x) c /= large;
    largest /= large, head /= large;
  }
  double squares = 0;
  for (const Complex& c : v.x) squares += std::norm(c / largest);
  const double length = largest * std::sqrt(squares);
  for (Complex& c : v.x) c /= length;
  v.length = length / head;
  return v;
}

}  // namespace

namespace {

/// Columns of `which` that are no conjugates of the column before: the second of a pair is.
std::vector<index_t> computed_columns(const Schur& schur, std::span<const index_t> which) {
  std::vector<bool> second(at(schur.size()));
  index_t first = 0;
  for (const index_t size : schur.units) {
    if (size == 2) second[at(first + 1)] = true;
    first += size;
  }
  std::vector<index_t> columns;
  for (std::size_t c = 0; c < which.size(); ++c)
    if (c == 0 || !second[at(which[c])] || which[c - 1] + 1 != which[c]) columns.push_back(static_cast<index_t>(c));
  return columns;
}

}  // namespace

SchurVectors eigenvectors_of(const Schur& schur, std::span<const index_t> which, int threads) {
  const index_t m = schur.size(), k = static_cast<index_t>(which.size());
  const auto& t = schur.t;
  double norm = 0;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = i; j < m; ++j) norm = std::max(norm, std::abs(t(i, j)));
  SchurVectors out{Matrix<Complex>(m, k), std::vector<double>(at(k))};
  const std::vector<index_t> computed = computed_columns(schur, which);
  const auto count = static_cast<index_t>(computed.size());
  auto triangular = Matrix<Complex>::zeros(m, count);
  Matrix<Complex> columns(m, m);  // of T, one after the other in memory
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < m; ++j) columns(j, i) = t(i, j);
  parallel_pieces(threads, count, [&](index_t number, int) {
    const index_t c = computed[at(number)], j = which[at(c)];
    const auto right = triangular_vector(t, j, true, norm, [&](const std::vector<Complex>& x, index_t i) {
      return dot(&t(i, i + 1), &x[at(i + 1)], j - i);
    });
    const auto left = triangular_vector(t, j, false, norm, [&](const std::vector<Complex>& y, index_t i) {
      return dot(&columns(i, j), &y[at(j)], i - j);  // y holds y^H
    });
    for (index_t i = 0; i <= j; ++i) triangular(i, number) = right.x[at(i)];
    out.conditions[at(c)] = right.length * left.length;  // y^H x = 1 before both were scaled
  });
  constexpr index_t few = 128;
  Matrix<Complex> vectors(m, count);
  Context ctx;
  ctx.threads = threads;
  if (count > few)
    tsmm(ctx, Op::none, Complex(1), schur.u.cview(), triangular.cview(), Complex(0), vectors.view());
  else
    vectors = ortho::product<Complex>(schur.u.cview(), triangular.cview());
  for (index_t number = 0; number < count; ++number) {
    const index_t c = computed[at(number)];
    const bool pair = c + 1 < (number + 1 < count ? computed[at(number + 1)] : k);
    if (pair) out.conditions[at(c + 1)] = out.conditions[at(c)];
    for (index_t i = 0; i < m; ++i) {
      out.vectors(i, c) = vectors(i, number);
      if (pair) out.vectors(i, c + 1) = std::conj(vectors(i, number));
    }
  }
  return out;
}

SchurVectors eigenvectors_of(const Schur& schur, index_t k) {
  std::vector<index_t> first(at(k));
  std::iota(first.begin(), first.end(), index_t{0});
  return eigenvectors_of(schur, first);
}

template <class T>
Matrix<T> leading_basis(const Schur& schur, index_t k) {
  const index_t m = schur.size();
  if constexpr (is_complex<T>) {
    Matrix<T> basis(m, k);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < k; ++j) basis(i, j) = schur.u(i, j);
    return basis;
  } else {
    // The span is closed under conjugation: real and imaginary parts span it too, and have rank k.
    const auto parts = parts_of<T>(schur.u.cview().cols(0, k));
    const auto qr = ortho::pivoted_qr<T>(parts.cview(), 0);
    Matrix<T> basis(m, k);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < k; ++j) basis(i, j) = qr.q(i, j);
    return basis;
  }
}

template Schur schur_of<double>(HostView<const double>);
template Schur schur_of<Complex>(HostView<const Complex>);
template Matrix<double> leading_basis<double>(const Schur&, index_t);
template Matrix<Complex> leading_basis<Complex>(const Schur&, index_t);

}  // namespace ts::inline v0::solvers
