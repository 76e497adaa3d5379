#include "tallskinny/app/tsdata/storage.hpp"

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/gemm/core/sparse_of.hpp"

namespace ts::tsdata {

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
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
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
