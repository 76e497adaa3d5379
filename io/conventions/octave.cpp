// Octave's `save -hdf5`: a variable is a group with `type` and `value`; a sparse value is a group of its own
// with nr, nc, nz, cidx, ridx, data (compressed columns); dense values have reversed dimensions.
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/pieces.hpp"

namespace ts::inline v0::io::conventions {

namespace {

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
