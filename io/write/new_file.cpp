#include "tallskinny/io/write/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <random>
#include <string>
#include <system_error>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/file_bytes.hpp"

namespace ts::inline v0::io {

namespace fs = std::filesystem;

namespace {

/// Names that a signal handler can read. Where there are more files than places, the last are not removed by
/// it.
std::array<std::atomic<const char*>, 16> unfinished{};
static_assert(std::atomic<const char*>::is_always_lock_free);

int enlist(const char* name) {
  for (std::size_t i = 0; i < unfinished.size(); ++i)
    if (const char* none = nullptr; unfinished[i].compare_exchange_strong(none, name)) return static_cast<int>(i);
  return -1;
}

void strike(int slot) {
  if (slot >= 0) unfinished[static_cast<std::size_t>(slot)] = nullptr;
}

[[noreturn]] void fail(const fs::path& target, const std::string& what, int error) {
  throw Error(Errc::io_failure, target.string() + " " + what + ": " + std::generic_category().message(error));
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// A name that is new and cannot be guessed; process numbers repeat, as in containers they are all 1.
fs::path random_name_beside(const fs::path& target) {
  std::random_device random;
  std::string name = ".tallskinny-";
  for (int i = 0; i < 4; ++i) name += std::to_string(random()) + (i < 3 ? "-" : ".tmp");
  return target.parent_path() / name;
}

}  // namespace

fs::path behind_links(fs::path path) {
  std::error_code failed;
  constexpr int most_links = 40;  // as Linux allows
  for (int i = 0; fs::is_symlink(fs::symlink_status(path, failed)); ++i) {
    if (i == most_links) fail(path, "cannot be written", ELOOP);
    const fs::path next = fs::read_symlink(path, failed);
    if (failed) fail(path, "cannot be written", failed.value());
    path = path.parent_path() / next;  // an absolute one stands for itself
  }
  return path;
}

NewFile::NewFile(const fs::path& target) : target_(behind_links(target)) {
  if (target_.filename().empty()) throw Error(Errc::io_failure, "'" + target_.string() + "' names no file to write");
  std::error_code failed;
  const fs::file_status status = fs::status(target_, failed);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(Errc::io_failure, target_.string() + " is not a regular file; results are not written over it");
  const fs::path folder = folder_of(target_);
  if (!fs::is_directory(folder, failed))
    throw Error(Errc::io_failure, target_.string() + " cannot be created: there is no folder " + folder.string());
  temporary_ = random_name_beside(target_);
  slot_ = enlist(temporary_.c_str());
  const mode_t mode = fs::exists(status) ? 0600 : 0666;
  descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (descriptor_ >= 0) return;
  const int error = errno;
  strike(slot_);
  fail(target_, "cannot be created in " + folder.string(), error);
}

NewFile::~NewFile() {
  ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
  strike(slot_);
}

void NewFile::write(std::string_view text) {
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  if (write_all(descriptor_, text)) return;
  const int error = errno;
  [[maybe_unused]] const int cut = ::ftruncate(descriptor_, end);
  fail(target_, "cannot be written", error);
}

void NewFile::commit() {
  if (::fsync(descriptor_) != 0) fail(target_, "could not be synced to the disk", errno);
  struct stat old {};
  if (::stat(target_.c_str(), &old) == 0) {
    struct stat own {};
    // Where the group cannot be kept, it has no rights on the file that others of the old one had.
    const bool group_kept = (::fstat(descriptor_, &own) == 0 && own.st_gid == old.st_gid) ||
                            ::fchown(descriptor_, static_cast<uid_t>(-1), old.st_gid) == 0;
    if (::fchmod(descriptor_, old.st_mode & (group_kept ? 07777 : 07707)) != 0)
      fail(target_, "could not be given the mode of the file that it replaces", errno);
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(target_, "could not be put in its place", errno);
  committed_ = true;
  strike(slot_);
  slot_ = -1;
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = folder >= 0 && (::fsync(folder) == 0 || errno == EINVAL);
  const int error = errno;
  if (folder >= 0) ::close(folder);
  if (!done && error != EACCES) fail(target_, "could not be synced to the disk", error);
}

void remove_unfinished_files() noexcept {
  for (const auto& name : unfinished)
    if (const char* file = name.load()) ::unlink(file);
}

}  // namespace ts::inline v0::io
