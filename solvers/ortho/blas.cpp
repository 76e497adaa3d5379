#include "tallskinny/solvers/ortho/blas.hpp"

#include "tallskinny/gemm/runtime/openblas.hpp"

namespace ts::ortho {

namespace {

struct BlasTables {
  BlasRoutines<double> real;
  BlasRoutines<std::complex<double>> complex;
  bool found = false;

  BlasTables() {
    const auto& library = lapack_library();
    found = library.bind(real.gemm, "dgemm_") && library.bind(real.gemv, "dgemv_") &&
            library.bind(real.hemv, "dsymv_") && library.bind(complex.gemm, "zgemm_") &&
            library.bind(complex.gemv, "zgemv_") && library.bind(complex.hemv, "zhemv_");
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

}  // namespace ts::ortho
