// From parts in an HDF5 file to a matrix, with all checks.
#pragma once

#include "tallskinny/io/conventions/parts.hpp"
#include "tallskinny/io/matrix/description.hpp"

namespace ts::inline v0::io {

/// What the parts make, from shapes and types alone. @throws Error(bad_input) for lists of wrong lengths.
[[nodiscard]] Description describe_parts(const Parts& parts, const hdf5::Node& object, const ReadOptions& options);

[[nodiscard]] MatrixFile read_parts(const Parts& parts, const hdf5::Node& object, const ReadOptions& options);

/// Whether of a matrix only what options choose is held, and this is not all: what it takes is known once pointers, or
/// pairs, are read.
[[nodiscard]] bool reads_by_range(const SparseParts& parts, const Description& d, const ReadOptions& options);

// The two halves, each in its file.
[[nodiscard]] SparseMatrix read_sparse_parts(const SparseParts& parts, const Description& d, const std::string& name,
                                             const ReadOptions& options);
[[nodiscard]] DenseMatrix read_dense_parts(const DenseParts& parts, const Description& d, const std::string& name,
                                           const ReadOptions& options);
/// Rows of parts that are stored by rows and hold no triangle, contiguous, as elements of `type`; with
/// `finite` checked.
void read_dense_rows(const DenseParts& parts, DType type, RowRange range, const std::string& name, bool finite,
                     void* out);
/// Checks the lengths of all lists against each other and the shape; the number of stored entries.
[[nodiscard]] index_t check_sparse_lengths(const SparseParts& parts, const hdf5::Node& object);
void check_dense_lengths(const DenseParts& parts, const hdf5::Node& object);

}  // namespace ts::inline v0::io
