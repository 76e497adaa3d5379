// Matrices of any type into output files, and what is said about them.
#pragma once

#include <string>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/tsdata/dtype.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::tsdata {

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
