// Which object of an HDF5 file is meant.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/io/conventions/parts.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

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

}  // namespace ts::inline v0::io
