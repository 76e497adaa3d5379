// What is left: ann-benchmarks' data sets, Julia's files (refused) and plain datasets.
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/pieces.hpp"

namespace ts::inline v0::io::conventions {

std::optional<Parts> ann_benchmarks(const hdf5::Node& object, const ReadOptions&) {
  if (!object.is_dataset()) return std::nullopt;
  const auto parent = object.parent();
  if (!parent || parent->path() != "/") return std::nullopt;
  const std::string& path = object.path();
  if (path != "/train" && path != "/test" && path != "/distances" && path != "/neighbors") return std::nullopt;
  const auto distance = parent->text_attribute("distance");
  const bool old_file = parent->has("train") && parent->has("test") && parent->has("neighbors");
  if (!distance && !old_file) return std::nullopt;
  if (parent->text_attribute("type") == "sparse")
    object.refuse("is a sparse ann-benchmarks set (lists of lists): store it as a sparse matrix");
  Parts parts = dense_dataset(object, "ann-benchmarks");
  if (distance) parts.note = "distance: " + *distance;
  return parts;
}

std::optional<Parts> julia(const hdf5::Node& object, const ReadOptions&) {
  if (!object.is_dataset()) return std::nullopt;
  bool columns = false, rows = false, values = false;
  for (const auto& member : object.members()) {
    columns |= member.name.starts_with("colptr");
    rows |= member.name.starts_with("rowval");
    values |= member.name.starts_with("nzval");
  }
  if (columns && rows && values)
    object.refuse(
        "is a Julia SparseMatrixCSC as JLD stores it (references, 1-based): "
        "write its colptr .- 1, rowval .- 1 and nzval as a SciPy or Binsparse CSC group instead");
  return std::nullopt;
}

std::optional<Parts> dense(const hdf5::Node& object, const ReadOptions&) {
  if (!object.is_dataset()) return std::nullopt;
  return dense_dataset(object, "dense");
}

}  // namespace ts::inline v0::io::conventions
