// Kernels that were compiled before the program ran, in one file that is installed beside the library.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ts::inline v0::cuda {

/// A file of entries, each under the SHA-256 of its key, compressed, and verified when it is read. May be read by
/// several threads at once.
class KernelPack {
 public:
  KernelPack() = default;  ///< without entries
  /// A file that is not there, or is none of these or damaged, has no entries.
  explicit KernelPack(const std::filesystem::path& file);
  ~KernelPack();
  KernelPack(const KernelPack&) = delete;
  KernelPack& operator=(const KernelPack&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// The compiler's version, "13.0".
  [[nodiscard]] const std::string& compiler() const noexcept { return compiler_; }
  /// What was packed under `key`, if all of it is there unchanged, and zlib, where that was there when it was packed.
  [[nodiscard]] std::optional<std::string> find(std::string_view key) const;

 private:
  struct Entry {
    std::string digest;  ///< of what is stored
    std::size_t offset = 0, stored = 0, bytes = 0;
  };
  int file_ = -1;
  std::string compiler_;
  std::map<std::string, Entry, std::less<>> entries_;  ///< by the SHA-256 of the key
};

/// Replaces `file` by a pack of `contents`, by their keys. @throws Error(bad_input) if it cannot be written.
void write_pack(const std::filesystem::path& file, const std::string& compiler,
                const std::map<std::string, std::string>& contents);

/// What TALLSKINNY_KERNELS names, else share/tallskinny/kernels.pack in the folder that the library or program was
/// built in or is installed in. Empty: there is none.
/// @throws Error(bad_input) where TALLSKINNY_KERNELS names a file that is not there. "none": no pack.
[[nodiscard]] std::filesystem::path default_pack_file();

}  // namespace ts::inline v0::cuda
