// Conventions by which an object of an HDF5 file is a matrix; pieces that they share.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/io/conventions/parts.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

/// Nothing if the object does not follow the convention. @throws Error(bad_input) with the reason if it does, but
/// cannot be read.
using Recognise = std::optional<Parts> (*)(const hdf5::Node& object, const ReadOptions& options);

/// Thrown for objects that clearly hold something else, such as text: they are left out of lists.
struct NotAMatrix : Error {
  explicit NotAMatrix(const std::string& sentence) : Error(Errc::bad_input, sentence) {}
};

namespace conventions {
std::optional<Parts> binsparse(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> anndata(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> h5sparse(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> matlab(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> petsc(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> ten_x(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> scipy(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> octave(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> pandas(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> pytables(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> ann_benchmarks(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> julia(const hdf5::Node&, const ReadOptions&);
std::optional<Parts> dense(const hdf5::Node&, const ReadOptions&);
}  // namespace conventions

/// All of them, in the order of io/README.md.
[[nodiscard]] std::span<const Recognise> all_conventions();

/// The first convention that recognises the object.
[[nodiscard]] std::optional<Parts> recognise(const hdf5::Node& object, const ReadOptions& options);

/// The object that a file means when none is named, where its convention says so ("/X" of AnnData).
[[nodiscard]] std::optional<std::string> default_object(const hdf5::Node& root);

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

/// Decides between compressed rows and columns by the number of pointers, which is one more than rows or columns. For a
/// square matrix options.layout decides. @throws Error(bad_input) where that is not given, or neither fits.
[[nodiscard]] bool decide_by_columns(const hdf5::Node& object, Shape shape, index_t pointers,
                                     const ReadOptions& options);

/// The root of an HDF5 file, opened as the options say.
[[nodiscard]] inline hdf5::Node open_hdf5(const std::filesystem::path& file, const ReadOptions& options) {
  return hdf5::open(file, {options.missing_as_fill, options.trusted, options.memory_limit});
}

struct Chosen {
  hdf5::Node object;
  Parts parts;
};

/// The object of this path; for "" the file's default or its only matrix.
/// @throws Error(bad_input) for a missing object, and for several candidates with their list.
[[nodiscard]] Chosen choose(const hdf5::Node& root, const std::string& path, const ReadOptions& options);

/// Every matrix of a file, in the order of names; with `problem` when it cannot be read.
[[nodiscard]] std::vector<Description> candidates(const hdf5::Node& root, const ReadOptions& options);

/// The path of the only vector of numbers in a file. @throws Error(bad_input) when there is none or several.
[[nodiscard]] std::string only_vector(const hdf5::Node& root);

struct BinsparseDescriptor {
  std::string version;  ///< "0.1", "0.1.0"; "" if the text does not say
  std::string format;   ///< "CSR", "COOR", "DMAT", ...
  std::vector<index_t> shape;
  std::optional<index_t> stored_values;
  std::map<std::string, std::string> data_types;  ///< "values" -> "complex[float64]"
  std::string structure;                          ///< "symmetric_lower", or ""
  bool fill = false;
  index_t index_base = 0;
};

/// Accepts the descriptor at the top level and under the key "binsparse".
/// @throws Error(bad_input) with a cause that starts with a verb ("has a Binsparse descriptor that ...").
[[nodiscard]] BinsparseDescriptor parse_binsparse(std::string_view text);

/// The descriptor at both levels, which the C and all Python reference readers accept.
[[nodiscard]] std::string format_binsparse(const BinsparseDescriptor& descriptor);

}  // namespace ts::inline v0::io
