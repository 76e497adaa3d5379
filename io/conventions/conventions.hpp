// The conventions in which HDF5 files hold matrices: one function each, in the order in which they are tried.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tallskinny/io/conventions/parts.hpp"

namespace ts::inline v0::io {

/// Nothing if the object does not follow the convention.
/// @throws Error(bad_input) if it does, but cannot be read: the sentence says why.
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

}  // namespace ts::inline v0::io
