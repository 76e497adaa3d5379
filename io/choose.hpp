// Which object of an HDF5 file is meant.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/parts.hpp"

namespace ts::io {

struct Chosen {
  hdf5::Node object;
  Parts parts;
};

/// The object of this path; for "" the file's default or its only matrix.
/// @throws Error(bad_input) for a missing object, and for several candidates with their list.
[[nodiscard]] Chosen choose(const hdf5::Node& root, const std::string& path, const ReadOptions& options);

struct Candidate {
  hdf5::Node object;
  Description description;  ///< with `problem` when it cannot be read
};

/// Every matrix of a file, in the order of names.
[[nodiscard]] std::vector<Candidate> candidates(const hdf5::Node& root, const ReadOptions& options);

/// The path of the only vector of numbers in a file. @throws Error(bad_input) when there is none or several.
[[nodiscard]] std::string only_vector(const hdf5::Node& root);

}  // namespace ts::io
