// Element types as options, and matrices brought to another element type.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::tsdata {

/// Declares --dtype; empty: as it comes.
void add_dtype_option(app::Options& options, std::optional<DType>& target, std::string help);

using AnyMatrix = std::variant<io::SparseMatrix, io::DenseMatrix>;

/// `matrix` with elements of type `to`, each rounded once.
/// @throws Error(invalid_argument) for complex to real, a sparse matrix of 16-bit type, or a finite value
/// that `to` cannot hold. `name` is what the sentence calls the matrix.
AnyMatrix converted_to(AnyMatrix matrix, DType to, const std::string& name);

}  // namespace ts::tsdata
