#include "tallskinny/io/write/seal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/hash.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::inline v0::io {

namespace {

/// Reads all of `bytes`, or tells why not. 0: done.
int read_at(int descriptor, char* out, std::size_t bytes, std::size_t from) {
  while (bytes > 0) {
    const ssize_t count = ::pread(descriptor, out, bytes, static_cast<off_t>(from));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    out += count, from += static_cast<std::size_t>(count), bytes -= static_cast<std::size_t>(count);
  }
  return 0;
}

/// The block that belongs before what an open file of `bytes` bytes holds; an error number if it cannot be
/// read.
int block_of(int descriptor, std::size_t bytes, std::string_view signature, std::string& block) {
  Hash hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::size_t at = seal_bytes; at < bytes; at += buffer.size()) {
    buffer.resize(std::min(buffer.size(), bytes - at));
    if (const int error = read_at(descriptor, buffer.data(), buffer.size(), at); error != 0) return error;
    hash.add(buffer.data(), buffer.size());
  }
  block =
      std::string(signature) + "\nbytes " + std::to_string(bytes) + "\nchecksum " + std::to_string(hash.value()) + "\n";
  expects(block.size() <= seal_bytes, "a signature is a short line");
  block.resize(seal_bytes, '\0');
  return 0;
}

}  // namespace

void seal(const NewFile& file, std::string_view signature) {
  struct stat status {};
  std::string block;
  int error = ::fstat(file.descriptor(), &status) == 0 ? 0 : errno;
  if (error == 0) error = block_of(file.descriptor(), static_cast<std::size_t>(status.st_size), signature, block);
  if (error == 0 && ::pwrite(file.descriptor(), block.data(), seal_bytes, 0) != ssize_t{seal_bytes}) error = EIO;
  if (error != 0)
    throw Error(Errc::io_failure,
                file.target().string() + " could not be sealed: " + std::generic_category().message(error));
}

SealState state_of_seal(const std::filesystem::path& file, std::string_view signature, bool contents) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int error = descriptor >= 0 ? 0 : errno;
  struct stat status {};
  if (error == 0 && ::fstat(descriptor, &status) != 0) error = errno;
  SealState state = SealState::foreign;
  if (error == 0 && S_ISREG(status.st_mode) && status.st_size >= off_t{seal_bytes}) {
    std::string found(seal_bytes, '\0'), expected;
    error = read_at(descriptor, found.data(), seal_bytes, 0);
    if (error == 0 && found.starts_with(std::string(signature) + "\n")) {
      if (contents) error = block_of(descriptor, static_cast<std::size_t>(status.st_size), signature, expected);
      state = !contents || found == expected ? SealState::whole : SealState::damaged;
    }
  }
  if (descriptor >= 0) ::close(descriptor);
  if (error != 0)
    throw Error(Errc::bad_input, file.string() + " cannot be read: " + std::generic_category().message(error));
  return state;
}

}  // namespace ts::inline v0::io
