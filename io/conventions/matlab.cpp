// MATLAB's files of version 7.3 (also SuiteSparse's .mat): compressed columns `jc`, `ir`, `data` in a group
// with the attribute MATLAB_sparse = rows; dense matrices with reversed dimensions and MATLAB_class.
// PETSc's HDF5 viewer uses the same names for compressed rows with MATLAB_sparse = columns.
#include <span>

#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::conventions {

namespace {

bool starts_with_matlab_header(const FileBytes& file) {
  std::string start(19, '\0');
  return file.read(0, std::as_writable_bytes(std::span(start))) == start.size() && start == "MATLAB 7.3 MAT-file";
}

/// Groups of this name that nothing marks as MATLAB's follow PETSc, unless the caller says columns.
bool is_petsc(const hdf5::Node& group, const ReadOptions& options) {
  if (options.layout) return *options.layout == SparseLayout::csr;
  return !group.has_attribute("MATLAB_class") && !starts_with_matlab_header(*group.bytes());
}

Parts jc_ir_data(const hdf5::Node& group, bool petsc) {
  const auto size = group.integer_attribute("MATLAB_sparse");
  if (!size || size->size() != 1 || size->front() < 0)
    group.refuse("has an attribute 'MATLAB_sparse' that is not one size");
  const hdf5::Node pointers = group.dataset("jc");
  const index_t lines = length_of(pointers) - 1;
  if (lines < 0) pointers.refuse("has no entries; compressed pointers have at least one");
  const Shape shape = petsc ? Shape{lines, size->front()} : Shape{size->front(), lines};
  Parts parts{petsc ? "PETSc" : "MATLAB", petsc ? "taken as compressed rows; --layout csc if jc points to columns" : "",
              SparseParts{}};
  auto& sparse = std::get<SparseParts>(parts.content);
  sparse.rows = shape.rows, sparse.cols = shape.cols, sparse.by_columns = !petsc;
  sparse.pointers = pointers;
  const auto minor = group.find("ir"), data = group.find("data");
  if (!minor && !data) {  // without entries both are left out: pairs of nothing, once the pointers say so
    index_t end = 0;
    if (dims_of(pointers)[0] == lines + 1)
      pointers.read(lines, lines + 1, hdf5::MemoryType::int64, std::as_writable_bytes(std::span(&end, 1)));
    if (end != 0) group.refuse(joined("has pointers to ", end, " entries, but no 'ir' and no 'data'"));
    sparse.values.type = {hdf5::ElementType::Kind::real, "float64", DType::float64};
    return parts;
  }
  sparse.minor = group.dataset("ir");
  sparse.values = elements_of(group.dataset("data"));
  return parts;
}

}  // namespace

std::optional<Parts> matlab(const hdf5::Node& object, const ReadOptions& options) {
  if (object.is_group()) {
    if (!object.has_attribute("MATLAB_sparse") || is_petsc(object, options)) return std::nullopt;
    return jc_ir_data(object, false);
  }
  const auto kind = object.text_attribute("MATLAB_class");
  if (!kind) return std::nullopt;
  if (*kind == "char" || *kind == "cell" || *kind == "struct" || *kind == "function_handle")
    throw NotAMatrix(object.name() + " is a MATLAB " + *kind + ", not a matrix of numbers");
  const auto empty = object.integer_attribute("MATLAB_empty");
  if (empty && empty->front() != 0) {
    const Shape shape = checked_shape(object, object.integers(), "MATLAB sizes");
    if (shape.rows != 0 && shape.cols != 0) object.refuse("is marked empty but has sizes above zero");
    DenseParts parts;
    parts.rows = shape.rows, parts.cols = shape.cols, parts.flat = true;
    parts.values.type = {hdf5::ElementType::Kind::real, "float64", DType::float64};
    return Parts{"MATLAB", "", parts};
  }
  return dense_dataset(object, "MATLAB", /*transposed=*/true);
}

std::optional<Parts> petsc(const hdf5::Node& object, const ReadOptions& options) {
  if (!object.is_group() || !object.has_attribute("MATLAB_sparse") || !is_petsc(object, options)) return std::nullopt;
  return jc_ir_data(object, true);
}

namespace {

// Octave's `save -hdf5`: a variable is a group with `type` and `value`; a sparse value is a group of its own
// with nr, nc, nz, cidx, ridx, data (compressed columns); dense values have reversed dimensions.

std::optional<Parts> sparse_value(const hdf5::Node& group) {
  for (const char* name : {"nr", "nc", "nz", "cidx", "ridx", "data"})
    if (!group.has(name)) return std::nullopt;
  const auto rows = group.dataset("nr").integers(), cols = group.dataset("nc").integers(),
             count = group.dataset("nz").integers();
  if (!rows || !cols || !count || rows->size() != 1 || cols->size() != 1 || count->size() != 1)
    group.refuse("does not give nr, nc and nz as one integer each");
  const Shape shape = checked_shape(group, std::vector<index_t>{rows->front(), cols->front()}, "nr, nc");
  SparseParts parts =
      compressed(shape, true, group.dataset("cidx"), group.dataset("ridx"), elements_of(group.dataset("data")));
  parts.announced_nonzeros = count->front();
  return Parts{"Octave", "", parts};
}

std::optional<Parts> dense_value(const hdf5::Node& variable, const hdf5::Node& value) {
  const std::string type = variable.dataset("type").text().value_or("");
  if (!type.ends_with("matrix") && !type.ends_with("scalar")) {
    if (value.is_group()) return std::nullopt;  // a struct: its fields are variables themselves
    throw NotAMatrix(variable.name() + " is an Octave " + (type.empty() ? "value of unknown type" : type) +
                     ", not a matrix of numbers");
  }
  if (value.is_group()) return sparse_value(value);
  if (variable.has_attribute("OCTAVE_EMPTY_MATRIX")) {
    const Shape shape = checked_shape(variable, value.integers(), "sizes");
    DenseParts parts;
    parts.rows = shape.rows, parts.cols = shape.cols, parts.flat = true;
    parts.values.type = {hdf5::ElementType::Kind::real, "float64", DType::float64};
    return Parts{"Octave", "", parts};
  }
  const auto dims = dims_of(value);
  if (dims.empty()) return std::nullopt;  // a plain number
  return dense_dataset(value, "Octave", /*transposed=*/true);
}

}  // namespace

std::optional<Parts> octave(const hdf5::Node& object, const ReadOptions&) {
  if (object.is_group() && object.has_attribute("OCTAVE_NEW_FORMAT")) {
    const auto value = object.find("value");
    return value && object.has("type") ? dense_value(object, *value) : std::nullopt;
  }
  if (object.is_group()) return sparse_value(object);
  const auto variable = object.parent();
  if (!variable || !variable->has_attribute("OCTAVE_NEW_FORMAT") || !object.path().ends_with("/value") ||
      !variable->has("type"))
    return std::nullopt;
  return dense_value(*variable, object);
}

}  // namespace ts::inline v0::io::conventions
