// Dense data: pandas, PyTables, ann-benchmarks, Julia (refused) and plain datasets.
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/printable.hpp"

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

namespace {

// pandas: DataFrame.to_hdf in its formats `fixed` (blocks of columns of one type) and `table` (PyTables).

Parts fixed(const hdf5::Node& frame) {
  const auto blocks = frame.integer_attribute("nblocks");
  if (!blocks || blocks->front() < 1) frame.refuse("is a pandas frame without columns of numbers");
  if (blocks->front() > 1)
    frame.refuse(joined("is a pandas frame with ", blocks->front(), " blocks of different types: choose one (",
                        frame.name(), "/block0_values), or give all columns one type before to_hdf"));
  return dense_dataset(frame.dataset("block0_values"), "pandas");
}

Parts table(const hdf5::Node& frame) {
  const hdf5::Node rows = frame.dataset("table");
  const auto members = rows.members();
  const hdf5::Node::Member* values = nullptr;
  for (const auto& member : members) {
    if (member.name == "index") continue;
    if (values != nullptr || !member.name.starts_with("values_block_"))
      frame.refuse("is a pandas table with columns of different types (" + member.name +
                   "): store it with format='fixed' and one type");
    values = &member;
  }
  if (values == nullptr) frame.refuse("is a pandas table without columns of numbers");
  if (!values->type.numeric()) frame.refuse("is a pandas table of " + values->type.text + ", not numbers");
  DenseParts parts;
  parts.rows = dims_of(rows).at(0), parts.cols = values->width;
  parts.values.dataset = rows, parts.values.member = values->name, parts.values.type = values->type;
  return {"pandas", "table", parts};
}

}  // namespace

std::optional<Parts> pandas(const hdf5::Node& object, const ReadOptions&) {
  if (!object.is_group()) return std::nullopt;
  const auto type = object.text_attribute("pandas_type");
  if (!type) return std::nullopt;
  if (*type == "frame") return fixed(object);
  if (*type == "frame_table") return table(object);
  if (*type == "series")
    object.refuse("is a pandas series: choose its values as a vector (" + object.name() + "/values)");
  object.refuse("is a pandas object of type '" + *type + "'; frames can be read");
}

std::optional<Parts> pytables(const hdf5::Node& object, const ReadOptions&) {
  if (!object.is_dataset()) return std::nullopt;
  const auto kind = object.text_attribute("CLASS");
  if (!kind) return std::nullopt;
  if (*kind == "VLARRAY") object.refuse("is a PyTables VLARRAY: its rows are ragged");
  if (*kind == "TABLE") object.refuse("is a PyTables table with named columns: store the numbers as an array");
  if (*kind != "ARRAY" && *kind != "CARRAY" && *kind != "EARRAY") return std::nullopt;
  return dense_dataset(object, "PyTables");
}

}  // namespace ts::inline v0::io::conventions
