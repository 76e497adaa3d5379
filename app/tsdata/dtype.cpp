#include "tallskinny/app/tsdata/dtype.hpp"

#include <cmath>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/problem.hpp"

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

template <class To, class From>
io::SparseMatrix with_type(CsrMatrix<From>& from, const std::string& name) {
  if constexpr (std::is_same_v<To, From>) {
    return std::move(from);
  } else if constexpr (std::is_same_v<To, result_t<To>>) {
    CsrMatrix<To> to{from.rows, from.cols, std::move(from.pointers), std::move(from.indices), {}};
    to.values.resize(from.values.size());
    convert_values(from.values.data(), to.values.data(), from.values.size(), name);
    return to;
  } else {
    throw Error(Errc::invalid_argument, name + " is sparse, and sparse matrices are not stored as " +
                                            std::string(name_of(dtype_of<To>)) +
                                            "; expected --dtype float64 or float32");
  }
}

template <class To, class From>
io::DenseMatrix with_type(Matrix<From>& from, const std::string& name) {
  if constexpr (std::is_same_v<To, From>) {
    return std::move(from);
  } else {
    Matrix<To> to(from.rows(), from.cols());
    convert_values(from.data(), to.data(), static_cast<std::size_t>(from.rows() * from.cols()), name);
    return to;
  }
}

}  // namespace

void add_dtype_option(app::Options& options, std::optional<DType>& target, std::string help) {
  options.custom("dtype", "TYPE", {}, std::move(help),
                 "one of float64, float32, complex128, complex64, float16, bfloat16",
                 [&target](std::string_view text) { return (target = dtype_named(text)).has_value(); });
}

AnyMatrix converted_to(AnyMatrix matrix, DType to, const std::string& name) {
  return by_type(to, [&]<class To>(std::type_identity<To>) {
    return std::visit(
        [&](auto& kind) {
          return std::visit([&](auto& from) -> AnyMatrix { return with_type<To>(from, name); }, kind);
        },
        matrix);
  });
}

}  // namespace ts::tsdata
