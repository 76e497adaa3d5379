// Hermitian matrices by the steps of LAPACK's xSYEVD and xHEEVD, so that vectors that nobody asked for cost little.
#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/ortho/lapack.hpp"
#include "tallskinny/solvers/ortho/tridiagonal.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

// Fortran's calls: addresses of 32-bit integers, the lengths of texts last.
using Text = const char*;
using Int = const int*;
using Length = std::size_t;

struct TridiagonalRoutines {
  void (*values)(Int n, double* d, double* e, int* info) = nullptr;
  void (*robust)(Text jobz, Text range, Int n, double* d, double* e, const double* vl, const double* vu, Int il, Int iu,
                 int* m, double* w, double* z, Int ldz, Int nzc, int* support, int* tryrac, double* work, Int lwork,
                 int* iwork, Int liwork, int* info, Length, Length) = nullptr;
  bool found = false;

  TridiagonalRoutines() {
    const auto& library = lapack_library();
    found = has_tridiagonal() && library.bind(values, "dsterf_") && library.bind(robust, "dstemr_");
  }
};

const TridiagonalRoutines& steps() {
  static const TridiagonalRoutines all;
  return all;
}

/// H = scale Q T Q^H; the scale, a power of two, is such that squares neither overflow nor underflow.
template <class T>
Reduced<T> reduce_scaled(const Context& ctx, HostView<const T> h, double& scale) {
  const index_t n = h.rows();
  const double largest = parallel_reduce(
      ctx.thread_count(), n, 0.0,
      [&](index_t first, index_t last) {
        double most = 0;
        for (index_t i = first; i < last; ++i)
          for (index_t j = 0; j <= i; ++j)
            most = std::max({most, std::abs(std::real(h(i, j))), std::abs(std::imag(h(i, j)))});
        return most;
      },
      [](double x, double y) { return std::max(x, y); });
  scale = largest > 0 ? std::exp2(std::floor(std::log2(largest))) : 1;
  Matrix<T> a(n + spare_elements(1), n);
  parallel_for(ctx.thread_count(), n, [&](index_t i) {
    for (index_t j = 0; j <= i; ++j) a(i, j) = h(i, j) / scale;
  });
  return reduce<T>(ctx, a.view().rows(0, n));
}

bool values_alone(Tridiagonal t, std::vector<double>& values) {
  const int n = static_cast<int>(t.size());
  int info = 0;
  steps().values(&n, t.d.data(), t.e.data(), &info);
  values = std::move(t.d);
  return info == 0;
}

/// Eigenvectors number first .. last - 1, into columns of z. Source: Dhillon and Parlett 2004.
bool robust_representations(Tridiagonal t, index_t first, index_t last, double* z) {
  const int n = static_cast<int>(t.size()), low = static_cast<int>(first) + 1, high = static_cast<int>(last);
  const int most = high - low + 1, reals = 18 * n, integers = 10 * n;
  std::vector<double> w(at(n)), work(at(reals));
  std::vector<int> support(at(2 * index_t{most})), iwork(at(integers));
  const double none = 0;
  int found = 0, relative = 1, info = 0;
  steps().robust("V", "I", &n, t.d.data(), t.e.data(), &none, &none, &low, &high, &found, w.data(), z, &n, &most,
                 support.data(), &relative, work.data(), &reals, iwork.data(), &integers, &info, 1, 1);
  return info == 0 && found == most;
}

/// Whether columns are orthonormal eigenvectors of T to what a divide and conquer could promise.
bool are_eigenvectors(const Tridiagonal& t, const std::vector<double>& values, const std::vector<index_t>& which,
                      const Matrix<double>& z) {
  const index_t n = t.size(), k = z.rows();
  const double norm = std::max(std::abs(values.front()), std::abs(values.back()));
  const double rounding = static_cast<double>(n) * unit_roundoff;
  for (index_t c = 0; c < k; ++c) {
    const double* const x = z.data() + c * n;
    double squares = 0;
    for (index_t i = 0; i < n; ++i) {
      double r = (t.d[at(i)] - values[at(which[at(c)])]) * x[i];
      if (i > 0) r += t.e[at(i - 1)] * x[i - 1];
      if (i + 1 < n) r += t.e[at(i)] * x[i + 1];
      squares += r * r;
    }
    if (!(std::sqrt(squares) <= rounding * norm)) return false;
    for (index_t b = 0; b <= c; ++b) {
      double dot = b == c ? -1 : 0;
      for (index_t i = 0; i < n; ++i) dot += x[i] * z(b, i);
      if (!(std::abs(dot) <= rounding)) return false;
    }
  }
  return true;
}

/// Few vectors: those of the chosen alone, one run of neighbours after the other. `z`: a vector in each row.
bool few_vectors(const Tridiagonal& t, const std::vector<double>& values, const std::vector<index_t>& rising,
                 Matrix<double>& z) {
  const auto k = static_cast<index_t>(rising.size());
  z = Matrix<double>(k, t.size());
  for (index_t c = 0, end = 0; c < k; c = end) {
    for (end = c + 1; end < k && rising[at(end)] == rising[at(end - 1)] + 1;) ++end;
    if (!robust_representations(t, rising[at(c)], rising[at(end - 1)] + 1, z.data() + c * t.size())) return false;
  }
  return are_eigenvectors(t, values, rising, z);
}

/// X = Q Z: column c of X is Q times row rows[c] of z.
template <class T>
Matrix<T> turned_back(const Context& ctx, const Reduced<T>& reduced, const Matrix<double>& z,
                      const std::vector<index_t>& rows) {
  constexpr index_t block = 32;
  const index_t n = reduced.t.size(), k = static_cast<index_t>(rows.size());
  Matrix<T> turned(k + spare_elements(1), n), x(n, k);
  parallel_for(ctx.thread_count(), k,
               [&](index_t c) { std::copy_n(z.data() + rows[at(c)] * n, n, turned.data() + c * n); });
  turn_back<T>(ctx, reduced, turned.view().rows(0, k));
  parallel_for(ctx.thread_count(), (n + block - 1) / block, [&](index_t piece) {
    for (index_t first = 0; first < k; first += block)
      for (index_t i = piece * block; i < std::min(n, (piece + 1) * block); ++i)
        for (index_t c = first; c < std::min(k, first + block); ++c) x(i, c) = turned(c, i);
  });
  return x;
}

}  // namespace

template <class T>
bool lapack_hermitian(const Context& ctx, HostView<const T> h, index_t wanted, const ChoosePairs& choose,
                      HermitianPairs<T>& out) {
  constexpr index_t most = 46340;  // its square is an int
  constexpr index_t few = 32;      // among so many vectors, one alone is cheaper by itself
  const index_t n = h.rows();
  if (n == 0 || n > most || !steps().found) return false;
  const OneBlasThread one;
  double scale = 1;
  const Reduced<T> reduced = reduce_scaled(ctx, h, scale);

  std::vector<double> scaled;
  const auto take = [&] {
    out.values = scaled;
    for (double& v : out.values) v *= scale;
    out.chosen = choose(out.values);
  };
  Matrix<double> z;
  std::vector<index_t> rows;
  const auto by_few = [&] {
    if (wanted * few > n || !values_alone(reduced.t, scaled)) return false;
    take();
    auto rising = out.chosen;
    std::sort(rising.begin(), rising.end());
    for (const index_t i : out.chosen)
      rows.push_back(std::lower_bound(rising.begin(), rising.end(), i) - rising.begin());
    return few_vectors(reduced.t, scaled, rising, z);
  };
  if (!by_few()) {
    if (!divide_and_conquer(ctx, reduced.t, scaled, z)) return false;
    take(), rows = out.chosen;
  }
  out.vectors = turned_back(ctx, reduced, z, rows);
  return true;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, lapack_hermitian)

}  // namespace ts::inline v0::ortho
