// A file format other than HDF5: how it is recognised, and its calls.
#pragma once

#include "tallskinny/io/matrix/description.hpp"

namespace ts::inline v0::io {

struct Format {
  const char* name;  ///< for ReadOptions::format
  /// Recognises a file by its name, in lower case, or by its first bytes, with zeros behind its end.
  bool (*matches)(const std::string& name, std::string_view start);
  Description (*describe)(const Location&, const ReadOptions&);
  MatrixFile (*read)(const Location&, const ReadOptions&);
  /// list_objects, for a format with objects.
  std::vector<Description> (*list)(const Location&, const ReadOptions&) = nullptr;
  /// visit_objects, for a format that opens its file once.
  void (*visit)(const Location&, const ReadOptions&, const LookAt&) = nullptr;
  bool has_columns = false;  ///< chooses them itself, by TableOptions
};

/// Whether a name ends in one of these, or in one of these and .gz.
[[nodiscard]] bool has_ending(const std::string& name, std::initializer_list<const char*> endings);

/// All formats, each defined in its own file.
namespace formats {
extern const Format mtx;    ///< Matrix Market, plain or gzip-compressed
extern const Format npy;    ///< an array of NumPy
extern const Format npz;    ///< arrays of NumPy, named as the object, or a matrix of scipy.sparse.save_npz
extern const Format mat;    ///< MATLAB 4 and 5: an object is a variable, or a field of a struct
extern const Format petsc;  ///< PETSc's binary files: an object is named by its number from 0
extern const Format arff;   ///< Weka's attribute-relation files: the numeric attributes make the columns
extern const Format csv;    ///< numbers separated by comma, semicolon, tab or blanks, with or without a line of names
}  // namespace formats

/// One attribute of an arff file; a nominal one as positions in its list.
[[nodiscard]] std::vector<double> read_arff_attribute(const std::filesystem::path& file, const std::string& name,
                                                      const ReadOptions& options);

}  // namespace ts::inline v0::io
