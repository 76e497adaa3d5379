#include "tallskinny/io/conventions/pieces.hpp"

#include <limits>

#include "tallskinny/io/elements.hpp"

namespace ts::inline v0::io {

Elements elements_of(const hdf5::Node& dataset) {
  dataset.require_inside();
  Elements e;
  e.type = dataset.element_type();
  if (!e.type.numeric()) dataset.refuse("holds " + e.type.text + ", not numbers");
  e.dataset = dataset;
  return e;
}

std::vector<index_t> dims_of(const hdf5::Node& dataset) {
  auto dims = dataset.dims();
  if (!dims) dataset.refuse("has no shape (an empty HDF5 dataspace)");
  return *dims;
}

index_t length_of(const hdf5::Node& dataset) {
  const auto dims = dims_of(dataset);
  if (dims.size() == 1) return dims[0];
  if (dims.size() == 2 && (dims[0] == 1 || dims[1] == 1)) return dims[0] * dims[1];
  if (dims.size() == 2 && (dims[0] == 0 || dims[1] == 0)) return 0;
  dataset.refuse("has " + std::to_string(dims.size()) + " dimensions where a list is needed");
}

Shape checked_shape(const hdf5::Node& object, const std::optional<std::vector<index_t>>& sizes,
                    const std::string& what) {
  if (!sizes || sizes->size() != 2) object.refuse("has no " + what + " of two integers");
  const auto [rows, cols] = std::pair((*sizes)[0], (*sizes)[1]);
  if (rows < 0 || cols < 0)
    object.refuse("has the impossible shape " + std::to_string(rows) + " x " + std::to_string(cols));
  return {rows, cols};
}

SparseParts compressed(Shape shape, bool by_columns, hdf5::Node pointers, hdf5::Node minor, Elements values) {
  SparseParts parts;
  parts.rows = shape.rows, parts.cols = shape.cols, parts.by_columns = by_columns;
  parts.pointers = std::move(pointers), parts.minor = std::move(minor), parts.values = std::move(values);
  return parts;
}

Parts dense_dataset(const hdf5::Node& dataset, std::string convention, bool transposed) {
  auto dims = dims_of(dataset);
  Parts parts{std::move(convention), "", DenseParts{}};
  auto& dense = std::get<DenseParts>(parts.body);
  dense.values = elements_of(dataset);
  // Some writers store the bits of a type without a name as integers, and its name beside them.
  const std::string unnamed(name_of(unnamed_dtype));
  if (dense.values.type.text == "uint16" && dataset.text_attribute("dtype") == unnamed)
    dense.values.type = {hdf5::ElementType::Kind::real, unnamed + " as uint16", unnamed_dtype};
  if (dims.empty()) dataset.refuse("is a single number, not a matrix");
  if (dims.size() > 2) {
    std::string shape = std::to_string(dims[0]);
    for (std::size_t i = 1; i < dims.size(); ++i) shape += " x " + std::to_string(dims[i]);
    if (transposed)
      dataset.refuse("has " + std::to_string(dims.size()) +
                     " dimensions in column-major order: store it as a matrix of two dimensions");
    parts.note = "flattened from " + shape;
    index_t width = 1;
    for (std::size_t i = 1; i < dims.size(); ++i)
      if (__builtin_mul_overflow(width, dims[i], &width)) dataset.refuse("has the impossible shape " + shape);
    dims = {dims[0], width};
  }
  if (dims.size() == 1) dims.push_back(1), dense.flat = true;
  dense.rows = transposed ? dims[1] : dims[0];
  dense.cols = transposed ? dims[0] : dims[1];
  dense.transposed = transposed;
  return parts;
}

bool decide_by_columns(const hdf5::Node& object, Shape shape, index_t pointers, const ReadOptions& options) {
  const bool by_rows = pointers - 1 == shape.rows, by_columns = pointers - 1 == shape.cols;
  if (!by_rows && !by_columns)
    object.refuse("has " + std::to_string(pointers) + " pointers; a matrix of " + std::to_string(shape.rows) + " x " +
                  std::to_string(shape.cols) + " needs one more than its rows or its columns");
  if (by_rows != by_columns) return by_columns;
  if (!options.layout)
    object.refuse(
        "is square and does not say whether its pointers run over rows or columns: "
        "choose with --layout csr or --layout csc");
  return *options.layout == SparseLayout::csc;
}

}  // namespace ts::inline v0::io
