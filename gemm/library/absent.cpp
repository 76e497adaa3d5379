// Takes the place of NVIDIA's libraries in a build without their headers.
#include "tallskinny/gemm/library/cublas.hpp"

namespace ts::cuda {

bool cublas_found() { return false; }
template <class T>
bool cublas_takes(const Products<T>&) noexcept {
  return false;
}
template <class T>
void multiply_by_cublas(const Context&, result_t<T>, const Products<T>&, result_t<T>) {
  throw Error(Errc::device_failure, "this program was built without the headers of cuBLAS");
}

#define TS_INSTANTIATE(T)                                     \
  template bool cublas_takes<T>(const Products<T>&) noexcept; \
  template void multiply_by_cublas<T>(const Context&, result_t<T>, const Products<T>&, result_t<T>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::cuda
