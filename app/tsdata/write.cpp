#include "tallskinny/app/tsdata/write.hpp"

#include <cmath>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/core/sparse_of.hpp"
#include "tallskinny/io/table_output.hpp"

namespace ts::tsdata {

namespace {

template <class T>
WrittenMatrix write_one(io::OutputFile& out, const std::string& object, const CsrMatrix<T>& a,
                        io::Structure structure) {
  out.write_binsparse(object, a, structure);
  return {a.rows, a.cols, a.nonzeros(), dtype_of<T>, true, structure};
}

template <class T>
WrittenMatrix write_one(io::OutputFile& out, const std::string& object, const Matrix<T>& a, io::Structure structure) {
  out.write(object, a);
  return {a.rows(), a.cols(), a.rows() * a.cols(), dtype_of<T>, false, structure};
}

}  // namespace

WrittenMatrix write_matrix(io::OutputFile& out, const std::string& object, const AnyMatrix& matrix,
                           io::Structure structure) {
  const auto write = [&](const auto& a) { return write_one(out, object, a, structure); };
  return std::visit([&](const auto& kind) { return std::visit(write, kind); }, matrix);
}

WrittenMatrix write_table(const std::string& file, const AnyMatrix& matrix, const std::string& name) {
  const auto* const dense = std::get_if<io::DenseMatrix>(&matrix);
  if (dense == nullptr)
    throw Error(Errc::invalid_argument, name + " is sparse, and " + file +
                                            " takes dense matrices: add --storage dense, or end the name with .h5");
  return std::visit(
      [&file]<class T>(const Matrix<T>& a) {
        io::TableOutput<T> out(file, a.rows(), a.cols(), {});
        out.add({a.data(), static_cast<std::size_t>(a.rows() * a.cols())});
        out.commit();
        return WrittenMatrix{a.rows(), a.cols(), a.rows() * a.cols(), dtype_of<T>, false, io::Structure::general};
      },
      *dense);
}

app::JsonObject as_json(const WrittenMatrix& written, app::JsonObject json) {
  json.add("rows", written.rows).add("cols", written.cols).add("sparse", written.sparse);
  json.add("nonzeros", written.nonzeros).add("dtype", name_of(written.type));
  json.add("structure", io::name_of(written.structure));
  return json;
}

std::string as_text(const WrittenMatrix& written) {
  std::string text = app::grouped(written.rows) + " x " + app::grouped(written.cols) + ' ' +
                     std::string(name_of(written.type)) + (written.sparse ? ", sparse, " : ", dense, ") +
                     std::string(io::name_of(written.structure));
  if (written.sparse) text += ", " + app::grouped(written.nonzeros) + " nonzeros";
  return text;
}

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
  options.custom("dtype", "TYPE", {}, std::move(help), "one of " + dtype_names(),
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

namespace {

template <class T>
AnyMatrix to_dense(const CsrMatrix<T>& a, const std::string& name) {
  index_t elements = 0;
  const bool overflow =
      __builtin_mul_overflow(a.rows, a.cols, &elements) || elements > INT64_MAX / static_cast<index_t>(sizeof(T));
  const std::uint64_t bytes = overflow ? UINT64_MAX : static_cast<std::uint64_t>(elements) * sizeof(T);
  solvers::expect_memory(name + " as a dense matrix", {{"matrix", bytes}}, app::available_memory());
  auto dense = Matrix<T>::zeros(a.rows, a.cols);
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[static_cast<std::size_t>(i)]; e < a.pointers[static_cast<std::size_t>(i) + 1]; ++e)
      dense(i, a.indices[static_cast<std::size_t>(e)]) += a.values[static_cast<std::size_t>(e)];
  return io::DenseMatrix(std::move(dense));
}

template <class T>
AnyMatrix to_sparse(const Matrix<T>& a, const std::string& name) {
  if constexpr (!std::is_same_v<T, result_t<T>>) {
    throw Error(Errc::invalid_argument, name + " is " + std::string(name_of(dtype_of<T>)) +
                                            ", and sparse matrices are not stored so; convert it to float32 first");
  } else {
    expects(a.cols() <= INT32_MAX, "a sparse matrix may have at most 2^31 - 1 columns");
    const std::uint64_t rows = static_cast<std::uint64_t>(a.rows()) + 1;
    solvers::expect_memory(name + " as a sparse matrix", {{"pointers", rows > UINT64_MAX / 8 ? UINT64_MAX : 8 * rows}},
                           app::available_memory());
    return io::SparseMatrix(sparse_of<T>(a));
  }
}

}  // namespace

AnyMatrix stored_as(AnyMatrix matrix, Storage storage, const std::string& name) {
  if (const auto* sparse = std::get_if<io::SparseMatrix>(&matrix); sparse && storage == Storage::dense)
    return std::visit([&](const auto& a) { return to_dense(a, name); }, *sparse);
  if (const auto* dense = std::get_if<io::DenseMatrix>(&matrix); dense && storage == Storage::sparse)
    return std::visit([&](const auto& a) { return to_sparse(a, name); }, *dense);
  return matrix;
}

}  // namespace ts::tsdata
