// Finds the places where a file refers to others: external links, external storage, virtual datasets.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tallskinny/io/hdf5/h5.hpp"

namespace ts::inline v0::io::hdf5 {

/// The file that an object lies in.
[[nodiscard]] std::filesystem::path file_of(hid_t id);

/// A part of the external storage of a dataset.
struct ExternalPart {
  std::filesystem::path file;
  hsize_t offset = 0, bytes = 0;
};
/// @throws Error(bad_input) with the file's name for a damaged list.
[[nodiscard]] std::vector<ExternalPart> external_parts(hid_t dataset, hid_t creation);

struct VirtualSource {
  std::string object, file;                   ///< as the dataset names them
  std::vector<std::filesystem::path> places;  ///< where HDF5 looks for the file, in this order; none: in its own
};
[[nodiscard]] VirtualSource virtual_source(hid_t dataset, hid_t creation, std::size_t i);

/// Reason why elements of a dataset must not be read: they come from another file and this one is not trusted, or that
/// one is no regular file. Nothing if there is none.
[[nodiscard]] std::optional<std::string> cause_outside(hid_t dataset, bool trusted);

/// Link access properties under which HDF5 follows links out of a trusted file only, and to regular files.
class LinkGuard {
 public:
  explicit LinkGuard(bool trusted);
  LinkGuard(const LinkGuard&) = delete;
  LinkGuard& operator=(const LinkGuard&) = delete;

  [[nodiscard]] hid_t access() const noexcept { return access_.id(); }
  /// Reason why a link was not followed.
  [[nodiscard]] const std::optional<std::string>& refused() const noexcept { return refused_; }

 private:
  static herr_t meet(const char* parent_file, const char* parent_group, const char* file, const char* object,
                     unsigned* flags, hid_t access, void* self);

  bool trusted_;
  std::optional<std::string> refused_;
  Handle access_;
};

}  // namespace ts::inline v0::io::hdf5
