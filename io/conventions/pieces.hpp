// What several conventions share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tallskinny/io/conventions/parts.hpp"

namespace ts::inline v0::io {

/// The elements of a dataset. @throws Error(bad_input) for strings, references, ragged rows, compounds.
[[nodiscard]] Elements elements_of(const hdf5::Node& dataset);

/// The sizes of a dataset. @throws Error(bad_input) for one without a dataspace.
[[nodiscard]] std::vector<index_t> dims_of(const hdf5::Node& dataset);

/// The number of elements of a list: a dataset of one dimension, or of two of which one is 1.
[[nodiscard]] index_t length_of(const hdf5::Node& dataset);

/// rows, cols from a list of two. @throws Error(bad_input) for anything else, naming `what` ("attribute
/// shape").
struct Shape {
  index_t rows = 0, cols = 0;
};
[[nodiscard]] Shape checked_shape(const hdf5::Node& object, const std::optional<std::vector<index_t>>& sizes,
                                  const std::string& what);

/// Compressed rows or columns made of three lists.
[[nodiscard]] SparseParts compressed(Shape shape, bool by_columns, hdf5::Node pointers, hdf5::Node minor,
                                     Elements values);

/// A two-dimensional dataset; one of more dimensions is flattened to rows, one of one dimension is a column.
/// `transposed`: written by a column-major program, the first dimension runs over columns.
[[nodiscard]] Parts dense_dataset(const hdf5::Node& dataset, std::string convention, bool transposed = false);

/// Is the number of pointers minus one the number of rows, of columns, or of both (a square matrix)?
/// Decides between compressed rows and columns; options.layout decides when both fit.
[[nodiscard]] bool decide_by_columns(const hdf5::Node& object, Shape shape, index_t pointers,
                                     const ReadOptions& options);

}  // namespace ts::inline v0::io
