// Compiled kernels kept on disk: a folder that only its user can enter, entries that are verified when read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ts::inline v0::cuda {

/// Never throws for the sake of a file: what cannot be read is missing, what cannot be written is not kept.
class DiskCache {
 public:
  /// Uses `folder`, which is made (mode 0700) if it is not there. A folder of another user, or one that
  /// others can enter, is not used. An empty path: no cache.
  explicit DiskCache(const std::filesystem::path& folder);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  [[nodiscard]] bool usable() const noexcept { return folder_ >= 0; }
  /// What was stored under `key`, if all of it is there unchanged.
  [[nodiscard]] std::optional<std::string> find(std::string_view key) const;
  /// Written under another name and renamed: a reader sees the whole entry or none.
  void store(std::string_view key, std::string_view content) const;

 private:
  int folder_ = -1;  // a descriptor: the folder cannot be exchanged behind our back
};

/// $XDG_CACHE_HOME/tallskinny, or ~/.cache/tallskinny; empty when neither is known.
[[nodiscard]] std::filesystem::path default_cache_folder();

}  // namespace ts::inline v0::cuda
