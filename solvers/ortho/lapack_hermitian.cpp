// Hermitian matrices by the steps of LAPACK's xSYEVD and xHEEVD, so that vectors that nobody asked for cost little.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/openblas.hpp"
#include "tallskinny/solvers/ortho/lapack.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::ortho {

namespace {

// Fortran's calls: addresses of 32-bit integers, the lengths of texts last.
using Text = const char*;
using Int = const int*;
using Length = std::size_t;

template <class T>
struct Reduction {
  void (*reduce)(Text uplo, Int n, T* a, Int lda, double* d, double* e, T* tau, T* work, Int lwork, int* info,
                 Length) = nullptr;
  void (*turn)(Text side, Text uplo, Text trans, Int m, Int n, const T* a, Int lda, const T* tau, T* c, Int ldc,
               T* work, Int lwork, int* info, Length, Length, Length) = nullptr;
};

struct Steps {
  Reduction<double> real;
  Reduction<std::complex<double>> complex;
  void (*values)(Int n, double* d, double* e, int* info) = nullptr;
  void (*divide)(Text compz, Int n, double* d, double* e, double* z, Int ldz, double* work, Int lwork, int* iwork,
                 Int liwork, int* info, Length) = nullptr;
  void (*robust)(Text jobz, Text range, Int n, double* d, double* e, const double* vl, const double* vu, Int il, Int iu,
                 int* m, double* w, double* z, Int ldz, Int nzc, int* support, int* tryrac, double* work, Int lwork,
                 int* iwork, Int liwork, int* info, Length, Length) = nullptr;
  bool found = false;

  Steps() {
    const auto& library = solvers::lapack_library();
    found = library.bind(real.reduce, "dsytrd_") && library.bind(real.turn, "dormtr_") &&
            library.bind(complex.reduce, "zhetrd_") && library.bind(complex.turn, "zunmtr_") &&
            library.bind(values, "dsterf_") && library.bind(divide, "dstedc_") && library.bind(robust, "dstemr_");
  }
  template <class T>
  [[nodiscard]] const Reduction<T>& of() const noexcept {
    if constexpr (is_complex<T>)
      return complex;
    else
      return real;
  }
};

const Steps& steps() {
  static const Steps all;
  return all;
}

/// A real symmetric tridiagonal matrix.
struct Tridiagonal {
  std::vector<double> d, e;  ///< n each; the last of e is of no use

  [[nodiscard]] int size() const noexcept { return static_cast<int>(d.size()); }
};

/// A = Q T Q^H, with Q as LAPACK leaves it.
template <class T>
struct Reduced {
  Matrix<T> a;  ///< n rows, and spare ones
  std::vector<T> tau;
  Tridiagonal t;
  double scale = 1;  ///< A was divided by this power of two, so that squares neither overflow nor underflow
};

template <class T>
bool reduce(HostView<const T> h, Reduced<T>& out) {
  const index_t n = h.rows();
  double largest = 0;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j <= i; ++j)
      largest = std::max({largest, std::abs(std::real(h(i, j))), std::abs(std::imag(h(i, j)))});
  out.scale = largest > 0 ? std::exp2(std::floor(std::log2(largest))) : 1;
  out.a = Matrix<T>(n + solvers::spare_elements(1), n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j <= i; ++j) out.a(i, j) = h(i, j) / out.scale;
  out.tau.resize(at(n)), out.t.d.resize(at(n)), out.t.e.resize(at(n));
  // A lower triangle in rows is the upper triangle of the conjugate in columns.
  const int order = static_cast<int>(n);
  int info = 0;
  const auto call = [&](T* work, int length) {
    steps().of<T>().reduce("U", &order, out.a.data(), &order, out.t.d.data(), out.t.e.data(), out.tau.data(), work,
                           &length, &info, 1);
  };
  return solvers::with_workspace<T>(n, call) && info == 0;
}

/// All eigenvalues, ascending, and all eigenvectors in columns. Source: Gu and Eisenstat 1995.
bool divide_and_conquer(Tridiagonal t, std::vector<double>& values, Matrix<double>& z) {
  const int n = t.size();
  z = Matrix<double>(n, n);
  int info = 0;
  const auto call = [&](double* work, int length, int* integers, int count) {
    steps().divide("I", &n, t.d.data(), t.e.data(), z.data(), &n, work, &length, integers, &count, &info, 1);
  };
  double wanted = 0;
  int integers_wanted = 0;
  call(&wanted, -1, &integers_wanted, -1);
  std::vector<double> work(at(static_cast<index_t>(wanted) + 1));
  std::vector<int> integers(at(integers_wanted) + 1);
  call(work.data(), static_cast<int>(work.size()), integers.data(), static_cast<int>(integers.size()));
  values = std::move(t.d);
  return info == 0;
}

bool values_alone(Tridiagonal t, std::vector<double>& values) {
  const int n = t.size();
  int info = 0;
  steps().values(&n, t.d.data(), t.e.data(), &info);
  values = std::move(t.d);
  return info == 0;
}

/// Eigenvectors number first .. last - 1, into columns of z. Source: Dhillon and Parlett 2004.
bool robust_representations(Tridiagonal t, index_t first, index_t last, double* z) {
  const int n = t.size(), low = static_cast<int>(first) + 1, high = static_cast<int>(last), most = high - low + 1;
  const int reals = 18 * n, integers = 10 * n;
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

/// X = Q Z: column c of X is row rows[c] of z. A piece of columns at a time.
template <class T>
bool turn_back(const Reduced<T>& reduced, const Matrix<double>& z, const std::vector<index_t>& rows, Matrix<T>& x) {
  constexpr index_t piece = 256;
  const index_t n = reduced.t.size(), k = x.cols();
  const int order = static_cast<int>(n);
  Matrix<T> c(std::min(piece, k) + solvers::spare_elements(1), n);
  for (index_t first = 0; first < k; first += piece) {
    const int width = static_cast<int>(std::min(piece, k - first));
    for (index_t j = 0; j < width; ++j) std::copy_n(z.data() + rows[at(first + j)] * n, n, c.data() + j * n);
    int info = 0;
    const auto call = [&](T* space, int length) {
      steps().of<T>().turn("L", "U", "N", &order, &width, reduced.a.data(), &order, reduced.tau.data(), c.data(),
                           &order, space, &length, &info, 1, 1, 1);
    };
    if (!solvers::with_workspace<T>(n, call) || info != 0) return false;
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < width; ++j) x(i, first + j) = conjugate(c(j, i));
  }
  return true;
}

}  // namespace

template <class T>
bool lapack_hermitian(HostView<const T> h, index_t wanted, const ChoosePairs& choose, HermitianPairs<T>& out) {
  constexpr index_t most = 46340;  // its square is an int
  constexpr index_t few = 32;      // among so many vectors, one alone is cheaper by itself
  const index_t n = h.rows();
  if (n == 0 || n > most || !steps().found) return false;
  const solvers::BlasThreads one(1);
  Reduced<T> reduced;
  if (!reduce(h, reduced)) return false;

  std::vector<double> scaled;
  const auto take = [&] {
    out.values = scaled;
    for (double& v : out.values) v *= reduced.scale;
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
    if (!divide_and_conquer(reduced.t, scaled, z)) return false;
    take(), rows = out.chosen;
  }
  out.vectors = Matrix<T>(n, static_cast<index_t>(rows.size()));
  return turn_back(reduced, z, rows, out.vectors);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, lapack_hermitian)

}  // namespace ts::ortho
