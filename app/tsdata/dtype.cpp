#include "tallskinny/app/tsdata/dtype.hpp"

#include <cmath>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::tsdata {

namespace {

bool finite(double x) { return std::isfinite(x); }
bool finite(std::complex<double> x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

template <class To, class From>
void convert_values(const From* from, To* to, std::size_t count, const std::string& name) {
  if constexpr (is_complex<From> && !is_complex<To>) {
    throw Error(Errc::invalid_argument, name + " is complex and cannot become " + std::string(name_of(dtype_of<To>)) +
                                            "; expected --dtype complex128 or complex64");
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const wide_t<To> value = to_wide(from[i]);
      to[i] = narrowed<To>(value);
      if (finite(value) && !finite(to_wide(to[i])))
        throw Error(Errc::invalid_argument,
                    name + " holds values too large for --dtype " + std::string(name_of(dtype_of<To>)));
    }
  }
}

template <class To>
io::SparseMatrix sparse_to(io::SparseMatrix& matrix, const std::string& name) {
  if (auto* same = std::get_if<CsrMatrix<To>>(&matrix)) return std::move(*same);
  return std::visit(
      [&](auto& from) -> io::SparseMatrix {
        CsrMatrix<To> to;
        to.values.resize(from.values.size());
        convert_values(from.values.data(), to.values.data(), from.values.size(), name);
        to.rows = from.rows;
        to.cols = from.cols;
        to.pointers = std::move(from.pointers);
        to.indices = std::move(from.indices);
        return to;
      },
      matrix);
}

template <class To>
io::DenseMatrix dense_to(io::DenseMatrix& matrix, const std::string& name) {
  if (auto* same = std::get_if<Matrix<To>>(&matrix)) return std::move(*same);
  return std::visit(
      [&](auto& from) -> io::DenseMatrix {
        Matrix<To> to(from.rows(), from.cols());
        convert_values(from.data(), to.data(), static_cast<std::size_t>(from.rows() * from.cols()), name);
        return to;
      },
      matrix);
}

}  // namespace

void add_dtype_option(app::Options& options, std::optional<DType>& target, std::string help) {
  constexpr std::array types = {DType::float64,   DType::float32, DType::complex128,
                                DType::complex64, DType::float16, DType::bfloat16};
  options.custom("dtype", "TYPE", {}, std::move(help),
                 "one of float64, float32, complex128, complex64, float16, bfloat16",
                 [&target, types](std::string_view text) {
                   for (const DType type : types)
                     if (name_of(type) == text) return target = type, true;
                   return false;
                 });
}

io::SparseMatrix converted(io::SparseMatrix matrix, DType to, const std::string& name) {
  switch (to) {
    case DType::float64: return sparse_to<double>(matrix, name);
    case DType::float32: return sparse_to<float>(matrix, name);
    case DType::complex128: return sparse_to<std::complex<double>>(matrix, name);
    case DType::complex64: return sparse_to<std::complex<float>>(matrix, name);
    case DType::float16:
    case DType::bfloat16: break;
  }
  throw Error(Errc::invalid_argument, name + " is sparse, and sparse matrices are not stored as " +
                                          std::string(name_of(to)) + "; expected --dtype float64 or float32");
}

io::DenseMatrix converted(io::DenseMatrix matrix, DType to, const std::string& name) {
  switch (to) {
    case DType::float64: return dense_to<double>(matrix, name);
    case DType::float32: return dense_to<float>(matrix, name);
    case DType::complex128: return dense_to<std::complex<double>>(matrix, name);
    case DType::complex64: return dense_to<std::complex<float>>(matrix, name);
    case DType::float16: return dense_to<float16>(matrix, name);
    case DType::bfloat16: return dense_to<bfloat16>(matrix, name);
  }
  throw Error(Errc::invalid_argument, name + " has no such element type");
}

DType dtype_of_matrix(const io::SparseMatrix& matrix) {
  return std::visit([]<class T>(const CsrMatrix<T>&) { return dtype_of<T>; }, matrix);
}

DType dtype_of_matrix(const io::DenseMatrix& matrix) {
  return std::visit([]<class T>(const Matrix<T>&) { return dtype_of<T>; }, matrix);
}

}  // namespace ts::tsdata
