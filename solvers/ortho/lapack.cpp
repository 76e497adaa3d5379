#include "tallskinny/solvers/ortho/lapack.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

// Fortran's calls: addresses of 32-bit integers, the length of a text last; complex matrices have one argument more.
template <class T>
struct Gesdd {
  using Function = void(const char*, const int*, const int*, T*, const int*, double*, T*, const int*, T*, const int*,
                        T*, const int*, int*, int*, std::size_t);
};
template <>
struct Gesdd<std::complex<double>> {
  using T = std::complex<double>;
  using Function = void(const char*, const int*, const int*, T*, const int*, double*, T*, const int*, T*, const int*,
                        T*, const int*, double*, int*, int*, std::size_t);
};

// Called without ordering ("N"): LAPACK never calls the function that would select eigenvalues.
struct Gees {
  using C = std::complex<double>;
  using Real = void(const char*, const char*, int (*)(const double*, const double*), const int*, double*, const int*,
                    int*, double*, double*, double*, const int*, double*, const int*, int*, int*, std::size_t,
                    std::size_t);
  using Complex = void(const char*, const char*, int (*)(const C*), const int*, C*, const int*, int*, C*, C*,
                       const int*, C*, const int*, double*, int*, int*, std::size_t, std::size_t);
};

struct Lapack {
  Gesdd<double>::Function* dgesdd = nullptr;
  Gesdd<std::complex<double>>::Function* zgesdd = nullptr;
  Gees::Real* dgees = nullptr;
  Gees::Complex* zgees = nullptr;
  bool found = false;

  Lapack() {
    const auto& library = lapack_library();
    found = library.bind(dgesdd, "dgesdd_") && library.bind(zgesdd, "zgesdd_") && library.bind(dgees, "dgees_") &&
            library.bind(zgees, "zgees_");
  }
};

const Lapack& lapack() {
  static const Lapack all;
  return all;
}

}  // namespace

template <class T>
bool lapack_svd(index_t m, index_t n, std::vector<T>& a, LapackSvd<T>& svd) {
  if (!lapack().found || std::max(m, n) > std::numeric_limits<int>::max()) return false;
  const index_t k = std::min(m, n), most = std::max(m, n);
  const index_t spare = spare_elements(most);
  a.reserve(at(m * n + spare)), svd.u.reserve(at(m * k + spare)), svd.vh.reserve(at(k * n + spare));
  svd.u.resize(at(m * k)), svd.values.resize(at(k)), svd.vh.resize(at(k * n));
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), least = static_cast<int>(k);
  std::vector<int> integers(at(8 * k));
  std::vector<double> reals(is_complex<T> ? at(k * std::max(5 * k + 5, 2 * most + 2 * k + 1)) : 0);
  int info = 0;
  const auto call = [&](T* work, int length) {
    const auto with = [&](auto* gesdd, auto... more) {
      gesdd("S", &rows, &columns, a.data(), &rows, svd.values.data(), svd.u.data(), &rows, svd.vh.data(), &least, work,
            &length, more..., integers.data(), &info, 1);
    };
    if constexpr (is_complex<T>)
      with(lapack().zgesdd, reals.data());
    else
      with(lapack().dgesdd);
  };
  const BlasThreads one(1);
  return with_workspace<T>(most, call) && info == 0;
}

template <class T>
bool lapack_schur(HostView<const T> a, SchurForm<T>& form) {
  const index_t n = a.rows();
  if (n == 0 || !lapack().found || n > std::numeric_limits<int>::max()) return false;
  const int order = static_cast<int>(n);
  const index_t columns = n + spare_elements(1);
  Matrix<T> t(columns, n), u(columns, n);  // by columns: transposed
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) t(j, i) = a(i, j);
  std::vector<T> values(at(n));
  std::vector<double> imaginary(at(n));  // or workspace
  int selected = 0, unused = 0, info = 0;
  const auto call = [&](T* work, int length) {
    if constexpr (is_complex<T>)
      lapack().zgees("V", "N", nullptr, &order, t.data(), &order, &selected, values.data(), u.data(), &order, work,
                     &length, imaginary.data(), &unused, &info, 1, 1);
    else
      lapack().dgees("V", "N", nullptr, &order, t.data(), &order, &selected, values.data(), imaginary.data(), u.data(),
                     &order, work, &length, &unused, &info, 1, 1);
  };
  const BlasThreads one(1);
  if (!with_workspace<T>(n, call) || info != 0) return false;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) form.t(i, j) = t(j, i), form.u(i, j) = u(j, i);
  return form.converged = true;
}

template bool lapack_schur(HostView<const double>, SchurForm<double>&);
template bool lapack_schur(HostView<const std::complex<double>>, SchurForm<std::complex<double>>&);
template bool lapack_svd(index_t, index_t, std::vector<double>&, LapackSvd<double>&);
template bool lapack_svd(index_t, index_t, std::vector<std::complex<double>>&, LapackSvd<std::complex<double>>&);

}  // namespace ts::inline v0::ortho
