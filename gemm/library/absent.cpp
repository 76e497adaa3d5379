// Takes the place of NVIDIA's libraries in a build without their headers.
#include "tallskinny/gemm/library/calls.hpp"

namespace ts::inline v0::cuda {

bool cublas_found() { return false; }
template <class T>
bool cublas_takes(const Products<T>&) noexcept {
  return false;
}
template <class T>
void multiply_by_cublas(const Context&, result_t<T>, const Products<T>&, result_t<T>) {
  throw Error(Errc::device_failure, "this program was built without the headers of cuBLAS");
}
template <class T>
void rank_update_by_cublas(const Context&, Op, DeviceStrided<const T>, T*) {
  throw Error(Errc::device_failure, "this program was built without the headers of cuBLAS");
}
template void rank_update_by_cublas<double>(const Context&, Op, DeviceStrided<const double>, double*);
template void rank_update_by_cublas<std::complex<double>>(const Context&, Op, DeviceStrided<const std::complex<double>>,
                                                          std::complex<double>*);

bool cusparse_found() { return false; }
template <class T, class I>
void multiply_by_cusparse(const Context&, result_t<T>, const CsrView<T, Space::device, I>&, DeviceStrided<const T>,
                          result_t<T>, DeviceStrided<result_t<T>>) {
  throw Error(Errc::device_failure, "this program was built without the headers of cuSPARSE");
}

TS_FOR_EACH_TYPE(TS_INDEXED_FUNCTION, multiply_by_cusparse)

TS_FOR_EACH_TYPE(TS_FUNCTION, cublas_takes)
TS_FOR_EACH_TYPE(TS_FUNCTION, multiply_by_cublas)

}  // namespace ts::inline v0::cuda
