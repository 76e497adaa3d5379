// pandas: DataFrame.to_hdf in its formats `fixed` (blocks of columns of one type) and `table` (PyTables).
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/pieces.hpp"

namespace ts::inline v0::io::conventions {

namespace {

Parts fixed(const hdf5::Node& frame) {
  const auto blocks = frame.integer_attribute("nblocks");
  if (!blocks || blocks->front() < 1) frame.refuse("is a pandas frame without columns of numbers");
  if (blocks->front() > 1)
    frame.refuse("is a pandas frame with " + std::to_string(blocks->front()) +
                 " blocks of different types: choose one (" + frame.name() +
                 "/block0_values), or give all columns one type before to_hdf");
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
