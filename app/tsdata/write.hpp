// Matrices of any type: brought to another element type or storage, written into output files, described.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::tsdata {

/// Declares --dtype; empty: as it comes.
void add_dtype_option(app::Options& options, std::optional<DType>& target, std::string help);

using AnyMatrix = std::variant<io::SparseMatrix, io::DenseMatrix>;

/// `matrix` with elements of type `to`, each rounded once.
/// @throws Error(invalid_argument) for complex to real, a sparse matrix of 16-bit type, or a finite value
/// that `to` cannot hold. `name` is what the sentence calls the matrix.
AnyMatrix converted_to(AnyMatrix matrix, DType to, const std::string& name);

enum class Storage { as_it_is, dense, sparse };

/// @throws Error(invalid_argument) for a 16-bit matrix that should become sparse, Error(out_of_memory) before
/// a dense matrix is made that does not fit. `name` is what the sentence calls the matrix.
AnyMatrix stored_as(AnyMatrix matrix, Storage storage, const std::string& name);

struct WrittenMatrix {
  index_t rows = 0, cols = 0, nonzeros = 0;
  DType type = DType::float64;
  bool sparse = false;
  io::Structure structure = io::Structure::general;
};

/// Sparse matrices as Binsparse (the lower triangle when `structure` is not general), dense ones as they are.
WrittenMatrix write_matrix(io::OutputFile& out, const std::string& object, const AnyMatrix& matrix,
                           io::Structure structure);

/// A dense matrix as .npy or .csv. @throws Error(invalid_argument) for a sparse one, which `name` calls.
WrittenMatrix write_table(const std::string& file, const AnyMatrix& matrix, const std::string& name);

app::JsonObject as_json(const WrittenMatrix& written, app::JsonObject json = {});
/// "8,000 x 8,000 float64, sparse, symmetric, 53,600 nonzeros"
std::string as_text(const WrittenMatrix& written);

}  // namespace ts::tsdata
