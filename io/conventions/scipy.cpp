// The arrays of a scipy.sparse matrix written one by one, under their own names.
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/pieces.hpp"

namespace ts::inline v0::io::conventions {

namespace {

/// A property that people store as a dataset or as an attribute.
std::optional<std::vector<index_t>> integers(const hdf5::Node& group, const char* name) {
  if (const auto dataset = group.find(name)) return dataset->integers();
  return group.integer_attribute(name);
}
std::optional<std::string> text(const hdf5::Node& group, const char* name) {
  if (const auto dataset = group.find(name)) return dataset->text();
  return group.text_attribute(name);
}

}  // namespace

std::optional<Parts> scipy(const hdf5::Node& object, const ReadOptions& options) {
  if (!object.is_group() || !object.has("data")) return std::nullopt;
  const bool is_compressed = object.has("indptr") && object.has("indices");
  const bool is_pairs = object.has("row") && object.has("col");
  if (!is_compressed && !is_pairs) return std::nullopt;
  const auto sizes = integers(object, "shape");
  if (!sizes) object.refuse("holds the arrays of a SciPy matrix but no 'shape' of two integers");
  const Shape shape = checked_shape(object, sizes, "'shape'");
  const auto format = text(object, "format");
  if (format && *format != "csr" && *format != "csc" && *format != "coo")
    object.refuse("has the SciPy format '" + *format + "'; csr, csc and coo can be read");

  Elements values = elements_of(object.dataset("data"));
  if (!is_compressed) {
    SparseParts pairs;
    pairs.form = SparseParts::Form::pairs;
    pairs.rows = shape.rows, pairs.cols = shape.cols;
    pairs.major = object.dataset("row"), pairs.minor = object.dataset("col");
    pairs.values = std::move(values);
    return Parts{"SciPy", "COO", pairs};
  }
  hdf5::Node pointers = object.dataset("indptr");
  const bool by_columns = format ? *format == "csc" : decide_by_columns(object, shape, length_of(pointers), options);
  return Parts{"SciPy", by_columns ? "CSC" : "CSR",
               compressed(shape, by_columns, std::move(pointers), object.dataset("indices"), std::move(values))};
}

}  // namespace ts::inline v0::io::conventions
