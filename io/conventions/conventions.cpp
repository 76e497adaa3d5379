#include "tallskinny/io/conventions/conventions.hpp"

#include <array>
#include <functional>
#include <set>

#include "tallskinny/io/conventions/parts.hpp"
#include "tallskinny/io/elements.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

constexpr int deepest = 64;
constexpr std::size_t most_objects = 100000;

/// Visits every object once; visit() says whether to go into a group. What cannot be opened goes to unopened(path,
/// sentence).
void walk(const hdf5::Node& node, int depth, std::set<std::uint64_t>& seen,
          const std::function<bool(const hdf5::Node&)>& visit,
          const std::function<void(const std::string&, const std::string&)>& unopened) {
  if (depth > deepest || seen.size() > most_objects || !seen.insert(node.address()).second) return;
  if (!visit(node) || !node.is_group()) return;
  for (const std::string& name : node.children()) {
    if (name.starts_with("#")) continue;  // MATLAB's #refs# and #subsystem#
    std::optional<hdf5::Node> child;
    try {
      child = node.find(name);
    } catch (const Error& error) {
      if (error.code() != Errc::bad_input) throw;
      unopened((node.path() == "/" ? "/" : node.path() + "/") + name, error.what());
    }
    if (child) walk(*child, depth + 1, seen, visit, unopened);
  }
}

/// One-dimensional lists and single numbers are parts of something, or vectors: no matrices to choose from.
bool is_list(const hdf5::Node& object) {
  if (object.is_group()) return false;
  if (object.has_attribute("MATLAB_empty")) return false;  // its elements are the sizes of an empty matrix
  const auto dims = object.dims();
  return !dims || (dims->size() < 2 && object.members().size() < 3);
}

std::string matrices_listed(const std::vector<Description>& found) {
  std::vector<std::string> words;
  for (const Description& d : found)
    words.push_back(d.where.object + (d.problem.empty() ? joined(" (", d.rows, " x ", d.cols, " ",
                                                                 d.sparse ? "sparse " : "dense ", d.stored_type, ")")
                                                        : " (cannot be read)"));
  return listed(words, "; ");
}

Chosen recognised(const hdf5::Node& object, const ReadOptions& options) {
  if (auto parts = recognise(object, options)) return {object, std::move(*parts)};
  const std::string inside = listed(object.children());
  object.refuse("is a group that holds no matrix in a known convention" +
                (inside.empty() ? std::string() : " (it holds " + inside + ")"));
}

}  // namespace

std::vector<Description> candidates(const hdf5::Node& root, const ReadOptions& options) {
  std::vector<Description> found;
  std::set<std::uint64_t> seen;
  const auto unopened = [&](const std::string& path, const std::string& sentence) {
    found.push_back(unreadable({root.file(), path}, "", sentence));
  };
  const auto visit = [&](const hdf5::Node& object) {
    if (is_list(object)) return false;
    Description d;
    try {
      const auto parts = recognise(object, options);
      if (!parts) return true;
      d = describe_parts(*parts, object, options);
    } catch (const NotAMatrix&) {
      return false;
    } catch (const Error& error) {
      if (error.code() != Errc::bad_input) throw;
      d = unreadable({object.file(), object.path()}, "", error.what());
      // A dataset of strings or references is none; a group in a known convention is one with a problem.
      if (object.is_dataset() && !object.element_type().numeric() && object.members().size() < 3) return false;
    }
    found.push_back(std::move(d));
    return false;
  };
  walk(root, 0, seen, visit, unopened);
  return found;
}

Chosen choose(const hdf5::Node& root, const std::string& path, const ReadOptions& options) {
  if (!path.empty()) {
    const auto object = root.find(path);
    if (object) return recognised(*object, options);
    const auto there = candidates(root, options);
    refuse(root.file(),
           "has no object '" + path + "'" + (there.empty() ? "" : "; its matrices are " + matrices_listed(there)));
  }
  if (const auto whole = recognise(root, options)) return {root, *whole};
  if (const auto usual = default_object(root)) return recognised(*root.find(*usual), options);
  const auto found = candidates(root, options);
  std::vector<const Description*> readable;
  for (const Description& d : found)
    if (d.problem.empty()) readable.push_back(&d);
  if (readable.size() == 1) return recognised(root.find(readable.front()->where.object).value(), options);
  if (found.empty()) refuse(root.file(), "holds no matrix in a known convention");
  if (found.size() == 1) throw Error(Errc::bad_input, found.front().problem);
  refuse(root.file(), joined("holds ", found.size(), " matrices; choose one as ", root.file().string(), ":/NAME from ",
                             matrices_listed(found)));
}

std::string only_vector(const hdf5::Node& root) {
  std::vector<std::string> found;
  std::set<std::uint64_t> seen;
  const auto visit = [&](const hdf5::Node& object) {
    if (object.is_group()) return true;
    const auto dims = object.dims();
    const auto type = object.element_type();
    if (dims && dims->size() == 1 &&
        (type.kind == hdf5::ElementType::Kind::real || type.kind == hdf5::ElementType::Kind::integer))
      found.push_back(object.path());
    return false;
  };
  walk(root, 0, seen, visit, [](const std::string&, const std::string&) {});
  if (found.size() == 1) return found.front();
  if (found.empty()) return "";  // a matrix of one column may serve: read_matrix decides
  refuse(root.file(), joined("holds ", found.size(), " vectors; choose one as ", root.file().string(), ":/NAME from ",
                             listed(found)));
}

std::span<const Recognise> all_conventions() {
  using namespace conventions;
  static constexpr std::array<Recognise, 13> in_order = {binsparse,      anndata, h5sparse, matlab, petsc,
                                                         ten_x,          scipy,   octave,   pandas, pytables,
                                                         ann_benchmarks, julia,   dense};
  return in_order;
}

std::optional<Parts> recognise(const hdf5::Node& object, const ReadOptions& options) {
  for (const Recognise attempt : all_conventions())
    if (auto parts = attempt(object, options)) return parts;
  return std::nullopt;
}

std::optional<std::string> default_object(const hdf5::Node& root) {
  if (auto named = root.text_attribute("default_matrix"); named && root.find(*named)) return named;
  const auto encoding = root.text_attribute("encoding-type");
  const bool is_anndata = encoding == "anndata" || (root.has("X") && root.has("obs") && root.has("var"));
  if (is_anndata && root.has("X")) return "/X";
  const bool is_ann_benchmarks =
      root.has("train") && (root.has_attribute("distance") || (root.has("test") && root.has("neighbors")));
  if (is_ann_benchmarks) return "/train";
  if (const auto suite_sparse = root.find("Problem"); suite_sparse && suite_sparse->has("A")) return "/Problem/A";
  return std::nullopt;
}

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
  dataset.refuse(joined("has ", dims.size(), " dimensions where a list is needed"));
}

Shape checked_shape(const hdf5::Node& object, const std::optional<std::vector<index_t>>& sizes,
                    const std::string& what) {
  if (!sizes || sizes->size() != 2) object.refuse("has no " + what + " of two integers");
  const auto [rows, cols] = std::pair((*sizes)[0], (*sizes)[1]);
  if (rows < 0 || cols < 0) object.refuse(joined("has the impossible shape ", rows, " x ", cols));
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
  auto& dense = std::get<DenseParts>(parts.content);
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
      dataset.refuse(
          joined("has ", dims.size(), " dimensions in column-major order: store it as a matrix of two dimensions"));
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
    object.refuse(joined("has ", pointers, " pointers; a matrix of ", shape.rows, " x ", shape.cols,
                         " needs one more than its rows or its columns"));
  if (by_rows != by_columns) return by_columns;
  if (!options.layout)
    object.refuse(
        "is square and does not say whether its pointers run over rows or columns: "
        "choose with --layout csr or --layout csc");
  return *options.layout == SparseLayout::csc;
}

}  // namespace ts::inline v0::io
