#include "tallskinny/solvers/ortho/lapack.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/solvers/openblas.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::ortho {

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

struct Lapack {
  Gesdd<double>::Function* dgesdd = nullptr;
  Gesdd<std::complex<double>>::Function* zgesdd = nullptr;
  bool found = false;

  Lapack() {
    const auto& library = solvers::lapack_library();
    found = library.bind(dgesdd, "dgesdd_") && library.bind(zgesdd, "zgesdd_");
  }
};

}  // namespace

template <class T>
bool lapack_svd(index_t m, index_t n, std::vector<T>& a, LapackSvd<T>& svd) {
  static const Lapack lapack;
  if (!lapack.found || std::max(m, n) > std::numeric_limits<int>::max()) return false;
  const index_t k = std::min(m, n), most = std::max(m, n);
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
      with(lapack.zgesdd, reals.data());
    else
      with(lapack.dgesdd);
  };
  const solvers::BlasThreads one(1);
  T wanted{};
  call(&wanted, -1);  // asks for the size of the workspace
  const double size = std::real(wanted);
  if (info != 0 || !(size < std::numeric_limits<int>::max())) return false;
  std::vector<T> work(static_cast<std::size_t>(size) + 1);
  call(work.data(), static_cast<int>(work.size()));
  return info == 0;
}

template bool lapack_svd(index_t, index_t, std::vector<double>&, LapackSvd<double>&);
template bool lapack_svd(index_t, index_t, std::vector<std::complex<double>>&, LapackSvd<std::complex<double>>&);

}  // namespace ts::ortho
