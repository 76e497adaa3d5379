#include "tallskinny/app/common/standard_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/table_file.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::app {

namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error(Errc::io_failure, "standard input " + what + ": " + std::generic_category().message(error));
}

/// A file that nobody else can open, and that goes with its descriptor.
int nameless_file() {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed)
    for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
      if (const char* const set = std::getenv(variable))
        throw Error(Errc::io_failure, "standard input cannot be kept: " + std::string(set) + ", which " + variable +
                                          " names for temporary files, is no folder: set " + variable + " to one");
  if (failed) fail("cannot be kept in " + folder.string(), failed.value());
  std::string name = (folder / "tallskinny-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail("cannot be kept in " + folder.string(), errno);
  ::unlink(name.c_str());
  return file;
}

void copy_to(int file) {
  const EndsOnSignal reading;
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read", errno);
    if (got == 0) return;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(file, piece.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno != EINTR) fail("cannot be kept in the folder for temporary files", errno);
      done += put > 0 ? put : 0;
    }
  }
}

}  // namespace

StandardInput::StandardInput(std::string& input, const Ranks& ranks) {
  if (input != standard_stream) return;
  expects(ranks.size() == 1, "- is the standard input of one process, and a launcher has started several: name a file");
  expects(::isatty(STDIN_FILENO) == 0, "- is standard input, and that is a terminal: name a file, or pipe one in");
  struct stat status {};
  const bool is_file =
      ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) && ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
  if (!is_file) copy_to(descriptor_ = nameless_file());
  input = "/proc/self/fd/" + std::to_string(is_file ? STDIN_FILENO : descriptor_);
  io::show_path_as(input, "standard input");
}

StandardInput::~StandardInput() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace ts::app
