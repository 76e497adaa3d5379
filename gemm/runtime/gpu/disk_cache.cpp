#include "tallskinny/gemm/runtime/gpu/disk_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "tallskinny/gemm/runtime/gpu/sha256.hpp"

namespace ts::inline v0::cuda {

namespace {

constexpr std::string_view magic = "tallskinny kernel 1\n";
constexpr std::size_t digest_length = 64;
constexpr off_t largest_entry = 64 << 20;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

std::optional<std::string> read_all(const File& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
      status.st_size > largest_entry)
    return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::read(file.get(), text.data() + done, text.size() - done);
    if (count <= 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  return text;
}

bool write_all(const File& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

DiskCache::DiskCache(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder.parent_path(), ignored);
  ::mkdir(folder.c_str(), 0700);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status {};
  const bool is_private = descriptor >= 0 && ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid() &&
                          (status.st_mode & 077) == 0;
  if (is_private)
    folder_ = descriptor;
  else if (descriptor >= 0)
    ::close(descriptor);
}

DiskCache::~DiskCache() {
  if (folder_ >= 0) ::close(folder_);
}

std::optional<std::string> DiskCache::find(std::string_view key) const {
  if (!usable()) return std::nullopt;
  const File file(::openat(folder_, sha256(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return std::nullopt;
  const auto text = read_all(file);
  if (!text || text->size() < magic.size() + digest_length || !text->starts_with(magic)) return std::nullopt;
  std::string content = text->substr(magic.size() + digest_length);
  if (sha256(content) != text->substr(magic.size(), digest_length)) return std::nullopt;
  return content;
}

void DiskCache::store(std::string_view key, std::string_view content) const {
  if (!usable()) return;
  static std::atomic<unsigned> count = 0;
  const std::string name = sha256(key);
  const std::string temporary = name + "." + std::to_string(::getpid()) + "." + std::to_string(count++);
  bool written = false;
  {
    const File file(::openat(folder_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return;
    written = write_all(file, magic) && write_all(file, sha256(content)) && write_all(file, content);
  }
  if (!written || ::renameat(folder_, temporary.c_str(), folder_, name.c_str()) != 0)
    ::unlinkat(folder_, temporary.c_str(), 0);
}

std::filesystem::path default_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::filesystem::path(cache) / "tallskinny";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache" / "tallskinny";
  return {};
}

}  // namespace ts::inline v0::cuda
