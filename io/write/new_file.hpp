// A file that takes the place of another when it is complete: what every writer of files goes through.
#pragma once

#include <filesystem>
#include <string_view>

namespace ts::inline v0::io {

/// The file that a path leads to through symbolic links, also if it does not exist.
/// @throws Error(io_failure) naming the path for a circle of links.
[[nodiscard]] std::filesystem::path behind_links(std::filesystem::path path);

/// Makes a file of a random name in the folder of `target` (O_CREAT | O_EXCL | O_NOFOLLOW). commit() syncs it
/// and renames it; without commit the destructor removes it and the target stays as it was. A file that
/// replaces another has its mode, and until then no one but its owner may read it.
/// @throws Error(io_failure) with the target's name and the cause, from every call.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& target);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Appends, before commit() or after it. A write that failed leaves no part of `text` behind.
  void write(std::string_view text);
  void commit();

  /// Open for reading and writing as long as this object lives.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }
  /// Name of the file until commit().
  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }

 private:
  std::filesystem::path target_, temporary_;
  int descriptor_ = -1, slot_ = -1;
  bool committed_ = false;
};

/// Removes the files that are not committed yet, for a program that ends immediately; safe in a signal handler.
void remove_unfinished_files() noexcept;

}  // namespace ts::inline v0::io
