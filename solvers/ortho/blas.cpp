#include "tallskinny/solvers/ortho/blas.hpp"

#include <string>

#include "tallskinny/gemm/runtime/openblas.hpp"

namespace ts::inline v0::ortho {

namespace {

template <class T>
bool load(const cuda::SharedLibrary& library, BlasRoutines<T>& to, const std::string& letter, const char* hemv) {
  const auto one = [&](auto*& function, const char* name) { return library.bind(function, (letter + name).c_str()); };
  return one(to.gemm, "gemm_") && one(to.gemv, "gemv_") && library.bind(to.hemv, hemv) && one(to.trmm, "trmm_") &&
         one(to.trsm, "trsm_");
}

struct BlasTables {
  BlasRoutines<double> real;
  BlasRoutines<std::complex<double>> complex;
  bool found = false;

  BlasTables() {
    const auto& library = lapack_library();
    found = load(library, real, "d", "dsymv_") && load(library, complex, "z", "zhemv_");
  }
};

const BlasTables& tables() {
  static const BlasTables all;
  return all;
}

}  // namespace

template <>
const BlasRoutines<double>* blas_routines<double>() {
  return tables().found ? &tables().real : nullptr;
}
template <>
const BlasRoutines<std::complex<double>>* blas_routines<std::complex<double>>() {
  return tables().found ? &tables().complex : nullptr;
}

}  // namespace ts::inline v0::ortho
