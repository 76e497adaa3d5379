#include "tallskinny/io/file_bytes.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

std::int64_t time_of_change(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  const auto refuse = [&](const std::string& cause) {
    if (descriptor_ >= 0) ::close(descriptor_);
    io::refuse(file, cause);
  };
  if (file.empty()) throw Error(Errc::bad_input, "no file is named");
  const int cause = errno;
  struct stat status {};
  const bool seen = descriptor_ >= 0 ? ::fstat(descriptor_, &status) == 0 : ::stat(file.c_str(), &status) == 0;
  if (!seen && (errno == ENOENT || errno == ENOTDIR)) refuse("does not exist");
  if (seen && S_ISDIR(status.st_mode)) refuse("is a folder, not a file");
  if (seen && !S_ISREG(status.st_mode)) refuse("is not a regular file");
  if (!seen || descriptor_ < 0) refuse("cannot be opened: " + std::generic_category().message(cause));
  size_ = static_cast<std::uint64_t>(status.st_size), changed_at_ = time_of_change(status);
}

FileBytes::~FileBytes() { ::close(descriptor_); }

bool FileBytes::unchanged() const noexcept {
  struct stat now {};
  return ::fstat(descriptor_, &now) == 0 && static_cast<std::uint64_t>(now.st_size) == size_ &&
         time_of_change(now) == changed_at_;
}

std::size_t FileBytes::read(std::uint64_t offset, std::span<std::byte> out) const {
  try {
    return read_at(descriptor_, offset, out);
  } catch (const std::system_error& error) {
    refuse(file_, joined("cannot be read: ", error.code().message()));
  }
}

void FileBytes::lock() const {
  const char* const set = std::getenv("HDF5_USE_FILE_LOCKING");
  const std::string_view word = set != nullptr ? set : "";
  if (word == "FALSE" || word == "0") return;
  if (::flock(descriptor_, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw std::system_error(errno, std::generic_category());
}

std::size_t read_at(int descriptor, std::uint64_t offset, std::span<std::byte> out) {
  constexpr std::size_t most = std::size_t{1} << 30;  // the system takes less than 2 GiB at a time
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got =
        ::pread(descriptor, out.data() + done, std::min(most, out.size() - done), static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category());
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

bool write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace ts::inline v0::io
