// Element types as options, and matrices brought to another element type.
#pragma once

#include <optional>
#include <string>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::tsdata {

/// Declares --dtype; empty: as it comes.
void add_dtype_option(app::Options& options, std::optional<DType>& target, std::string help);

/// `matrix` with elements of type `to`, each rounded once.
/// @throws Error(invalid_argument) for complex to real, a sparse matrix of 16-bit type, or a finite value
/// that `to` cannot hold. `name` is what the sentence calls the matrix.
io::SparseMatrix converted(io::SparseMatrix matrix, DType to, const std::string& name);
io::DenseMatrix converted(io::DenseMatrix matrix, DType to, const std::string& name);

[[nodiscard]] DType dtype_of_matrix(const io::SparseMatrix& matrix);
[[nodiscard]] DType dtype_of_matrix(const io::DenseMatrix& matrix);

}  // namespace ts::tsdata
