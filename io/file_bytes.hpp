// A regular file, open for reading at any place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace ts::inline v0::io {

class FileBytes {
 public:
  /// Opens a file without ever waiting for it. @throws Error(bad_input) "FILE CAUSE" if it is missing, no regular file,
  /// or unreadable.
  explicit FileBytes(const std::filesystem::path& file);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Bytes of the file when it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// True if size and time of change are those that the file had when it was opened.
  [[nodiscard]] bool unchanged() const noexcept;
  /// The bytes from `offset` on; how many there are, which is fewer only at the end of the file. Any number
  /// of threads at a time. @throws Error(bad_input) naming the file, for a disk that fails.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> out) const;
  /// HDF5's own lock, shared, unless HDF5_USE_FILE_LOCKING or the file system has none. It ends with this
  /// object. @throws std::system_error where another program has the file open for writing.
  void lock() const;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::int64_t changed_at_ = 0;  ///< nanoseconds
};

/// FileBytes::read for a descriptor. @throws std::system_error.
[[nodiscard]] std::size_t read_at(int descriptor, std::uint64_t offset, std::span<std::byte> out);

/// Writes all of `bytes`; false with errno where that fails.
[[nodiscard]] bool write_all(int descriptor, std::string_view bytes) noexcept;

}  // namespace ts::inline v0::io
