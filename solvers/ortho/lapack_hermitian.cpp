// Hermitian matrices by the steps of LAPACK's xSYEVD and xHEEVD, so that vectors that are not wanted cost little.
#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/ortho/lapack.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

// Fortran's calls: addresses of 32-bit integers, the lengths of texts last.
using Text = const char*;
using Int = const int*;
using Length = std::size_t;

template <class T>
struct HermitianRoutines {
  void (*reduce)(Text uplo, Int n, T* a, Int lda, double* d, double* e, T* tau, T* work, Int lwork, int* info,
                 Length) = nullptr;
  void (*factor)(Text direct, Text storev, Int n, Int k, const T* v, Int ldv, const T* tau, T* t, Int ldt, Length,
                 Length) = nullptr;
  void (*turn)(Text side, Text op, Text direct, Text storev, Int m, Int n, Int k, const T* v, Int ldv, const T* t,
               Int ldt, T* c, Int ldc, T* work, Int ldwork, Length, Length, Length, Length) = nullptr;

  [[nodiscard]] bool bind(const cuda::SharedLibrary& library) {
    const bool z = is_complex<T>;
    return library.bind(reduce, z ? "zhetrd_" : "dsytrd_") && library.bind(factor, z ? "zlarft_" : "dlarft_") &&
           library.bind(turn, z ? "zlarfb_" : "dlarfb_");
  }
};

struct HermitianLapack {
  HermitianRoutines<double> real;
  HermitianRoutines<std::complex<double>> complex;
  void (*values)(Int n, double* d, double* e, int* info) = nullptr;
  void (*divide)(Text compz, Int n, double* d, double* e, double* z, Int ldz, double* work, Int lwork, int* iwork,
                 Int liwork, int* info, Length) = nullptr;
  void (*robust)(Text jobz, Text range, Int n, double* d, double* e, const double* vl, const double* vu, Int il, Int iu,
                 int* m, double* w, double* z, Int ldz, Int nzc, int* support, int* tryrac, double* work, Int lwork,
                 int* iwork, Int liwork, int* info, Length, Length) = nullptr;
  bool found = false;

  HermitianLapack() {
    const auto& library = lapack_library();
    found = real.bind(library) && complex.bind(library) && library.bind(values, "dsterf_") &&
            library.bind(divide, "dstedc_") && library.bind(robust, "dstemr_");
  }
  template <class T>
  [[nodiscard]] const HermitianRoutines<T>& of() const noexcept {
    if constexpr (is_complex<T>)
      return complex;
    else
      return real;
  }
};

const HermitianLapack& hermitian_lapack() {
  static const HermitianLapack all;
  return all;
}

struct Tridiagonal {
  std::vector<double> d, e;  ///< n each; the last of e is of no use

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(d.size()); }
};

/// H = scale Q T Q^H; the scale, a power of two, is such that squares neither overflow nor underflow.
template <class T>
struct Reduced {
  Matrix<T> a;  ///< Q as xSYTRD leaves it, spare elements behind
  std::vector<T> tau;
  Tridiagonal t;
  double scale = 1;
};

template <class T>
bool reduce(const Context& ctx, HostView<const T> h, Reduced<T>& out) {
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
  if (largest > 0) out.scale = std::exp2(std::floor(std::log2(largest)));
  out.a = Matrix<T>(n + spare_elements(1), n);
  parallel_for(ctx.thread_count(), n, [&](index_t i) {  // by columns the upper triangle
    for (index_t j = 0; j <= i; ++j) out.a(i, j) = conjugate(h(i, j)) / out.scale;
  });
  out.tau.resize(at(n)), out.t.d.resize(at(n)), out.t.e.resize(at(n));
  const int order = static_cast<int>(n);
  int info = 0;
  return with_workspace<T>(n,
                           [&](T* work, int length) {
                             hermitian_lapack().of<T>().reduce("U", &order, out.a.data(), &order, out.t.d.data(),
                                                               out.t.e.data(), out.tau.data(), work, &length, &info, 1);
                           }) &&
         info == 0;
}

bool values_alone(Tridiagonal t, std::vector<double>& values) {
  const int n = static_cast<int>(t.size());
  int info = 0;
  hermitian_lapack().values(&n, t.d.data(), t.e.data(), &info);
  values = std::move(t.d);
  return info == 0;
}

/// All eigenvalues and eigenvectors, one in each row of z. Source: Gu and Eisenstat 1995.
bool divide_and_conquer(Tridiagonal t, std::vector<double>& values, Matrix<double>& z) {
  const int n = static_cast<int>(t.size()), integers = 5 * n + 3;
  std::vector<int> iwork(at(integers));
  z = Matrix<double>(n, n);
  int info = 0;
  const auto call = [&](double* work, int length) {
    hermitian_lapack().divide("I", &n, t.d.data(), t.e.data(), z.data(), &n, work, &length, iwork.data(), &integers,
                              &info, 1);
  };
  if (!with_workspace<double>(n, call) || info != 0) return false;
  values = std::move(t.d);
  return true;
}

/// Eigenvectors number first .. last - 1, into columns of z. Source: Dhillon and Parlett 2004.
bool robust_representations(Tridiagonal t, index_t first, index_t last, double* z) {
  const int n = static_cast<int>(t.size()), low = static_cast<int>(first) + 1, high = static_cast<int>(last);
  const int most = high - low + 1, reals = 18 * n, integers = 10 * n;
  std::vector<double> w(at(n)), work(at(reals));
  std::vector<int> support(at(2 * index_t{most})), iwork(at(integers));
  const double none = 0;
  int found = 0, relative = 1, info = 0;
  hermitian_lapack().robust("V", "I", &n, t.d.data(), t.e.data(), &none, &none, &low, &high, &found, w.data(), z, &n,
                            &most, support.data(), &relative, work.data(), &reals, iwork.data(), &integers, &info, 1,
                            1);
  return info == 0 && found == most;
}

/// True if columns are orthonormal eigenvectors of T within the error bounds of divide and conquer.
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

/// X = Q Z: column c of X is Q times row rows[c] of z. As xORMTR, with more reflectors at once, and pieces of columns
/// that have one thread each: on two threads that took 0.43 to 0.75 of its time.
template <class T>
Matrix<T> turn_back(const Context& ctx, const Reduced<T>& reduced, const Matrix<double>& z,
                    const std::vector<index_t>& rows) {
  constexpr index_t width = 64, piece = 256, block = 32;
  constexpr int ld_factor = width, ld_work = piece;
  const index_t n = reduced.t.size(), k = static_cast<index_t>(rows.size());
  const index_t reflectors = n - 1, blocks = (reflectors + width - 1) / width;
  const int ld = static_cast<int>(n), threads = blas_threads(ctx);
  const auto& lapack = hermitian_lapack().of<T>();
  Matrix<T> factors(blocks * width, width), turned(k + spare_elements(1), n), x(n, k);
  const auto with_block = [&](index_t b, const auto& call) {
    const int count = static_cast<int>(std::min(width, reflectors - b * width)),
              height = count + static_cast<int>(b * width);
    call(height, count, reduced.a.data() + (b * width + 1) * n, factors.data() + b * width * width);
  };
  const BlasThreads one(1);
  parallel_pieces(threads, blocks, [&](index_t b, int) {
    with_block(b, [&](const int& height, const int& count, const T* v, T* factor) {
      lapack.factor("B", "C", &height, &count, v, &ld, reduced.tau.data() + b * width, factor, &ld_factor, 1, 1);
    });
  });
  parallel_pieces(threads, (k + piece - 1) / piece, [&](index_t p, int) {
    const index_t first = p * piece, last = std::min(k, first + piece);
    const int columns = static_cast<int>(last - first);
    std::vector<T> work(at(width * piece));
    for (index_t c = first; c < last; ++c) std::copy_n(z.data() + rows[at(c)] * n, n, &turned(c, 0));
    for (index_t b = 0; b < blocks; ++b)
      with_block(b, [&](const int& height, const int& count, const T* v, const T* factor) {
        lapack.turn("L", "N", "B", "C", &height, &columns, &count, v, &ld, factor, &ld_factor, &turned(first, 0), &ld,
                    work.data(), &ld_work, 1, 1, 1, 1);
      });
  });
  parallel_for(threads, (n + block - 1) / block, [&](index_t p) {
    for (index_t first = 0; first < k; first += block)
      for (index_t i = p * block; i < std::min(n, (p + 1) * block); ++i)
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
  if (n == 0 || n > most || !hermitian_lapack().found) return false;
  Reduced<T> reduced;
  std::vector<double> scaled;
  Matrix<double> z;
  std::vector<index_t> rows;
  const auto take = [&] {
    out.values = scaled;
    for (double& v : out.values) v *= reduced.scale;
    out.chosen = choose(out.values);
  };
  const auto by_few = [&] {
    if (wanted * few > n || !values_alone(reduced.t, scaled)) return false;
    take();
    auto rising = out.chosen;
    std::sort(rising.begin(), rising.end());
    for (const index_t i : out.chosen)
      rows.push_back(std::lower_bound(rising.begin(), rising.end(), i) - rising.begin());
    return few_vectors(reduced.t, scaled, rising, z);
  };
  {
    const BlasThreads threads(n < threaded_rows ? 1 : ctx.thread_count());
    if (!reduce<T>(ctx, h, reduced)) return false;
    if (!by_few()) {
      if (!divide_and_conquer(reduced.t, scaled, z)) return false;
      take(), rows = out.chosen;
    }
  }
  out.vectors = turn_back<T>(ctx, reduced, z, rows);
  return true;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, lapack_hermitian)

}  // namespace ts::inline v0::ortho
