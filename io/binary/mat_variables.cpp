#include "tallskinny/io/binary/mat_variables.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>

#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/hdf5/message.hpp"
#include "tallskinny/io/hdf5/sandbox.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"
#ifdef TS_MATIO
#include "tallskinny/io/binary/mat_reader.hpp"
#endif

namespace ts::inline v0::io {

namespace {

#ifdef TS_MATIO

using matlab5::Matio;
using matlab5::MatReader;

const Matio& matio(const std::filesystem::path& file) {
  static const Matio library;
  if (!library.loaded)
    refuse(file, joined("is a MATLAB file of version 4 or 5, and the library that reads those, ", TS_MATIO,
                        ", was not found: install it (Debian: libmatio-dev), or save the file with '-v7.3'"));
  return library;
}

/// A file in memory, which ends with this object.
struct Memory {
  explicit Memory(const char* name) : descriptor(::memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor < 0) throw std::bad_alloc();
  }
  ~Memory() { ::close(descriptor); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] std::uint64_t size() const {
    const off_t end = ::lseek(descriptor, 0, SEEK_END);
    return end < 0 ? 0 : static_cast<std::uint64_t>(end);
  }
  /// Bytes of what was read from a file of that name, as FileBytes::read.
  [[nodiscard]] std::size_t read(const std::string& name, std::uint64_t offset, std::span<std::byte> out) const {
    try {
      return io::read_at(descriptor, offset, out);
    } catch (const std::system_error& error) {
      refuse(name, joined("cannot be read: ", error.code().message()));
    }
  }
  int descriptor;
};

enum Status : int { fine = 0, no_memory = 1, not_opened = 2, not_filtered = 3 };

/// Runs in the child process: sends a message with the variables to `results`, and their lists of members to `lists`.
[[noreturn]] void serve_mat(const Matio& library, const FileBytes& bytes, const std::string& path, int results,
                            int lists, std::uint64_t address_space, bool trusted) {
  constexpr double most_seconds = 60, least_rate = 5e6;  // bytes a second, once unpacked
  const std::string name = "/proc/self/fd/" + std::to_string(bytes.descriptor());
  if (!hdf5::give_up_rights({results, lists, bytes.descriptor()}, address_space, bytes.descriptor()) && !trusted)
    ::_exit(not_filtered);
  hdf5::allow_seconds(most_seconds + static_cast<double>(bytes.size()) / least_rate);
  mat_t* const file = library.open(name.c_str(), MAT_ACC_RDONLY);
  if (file == nullptr) ::_exit(not_opened);
  try {
    MatReader reader(library, file, lists);
    const std::vector<MatVariable> found = path.empty() ? reader.all() : reader.one(path);
    if (!write_all(results, hdf5::Message().put(found).bytes())) ::_exit(no_memory);
  } catch (const std::exception&) {
    ::_exit(no_memory);
  }
  ::_exit(fine);
}

/// Has libmatio look at one variable, or all for "".
std::vector<MatVariable> ask_matio(const std::filesystem::path& file, const std::string& path,
                                   const ReadOptions& options, const Memory& lists) {
  const Matio& library = matio(file);
  const FileBytes bytes(file);
  const Memory results("tallskinny-results");
  constexpr std::uint64_t own_memory = std::uint64_t{512} << 20;
  const std::uint64_t allowed = options.memory_limit != 0 ? options.memory_limit : available_memory();
  const std::uint64_t may_take =
      sum({hdf5::address_space(), own_memory,
           std::min(allowed, product({3 * best_deflate, static_cast<index_t>(bytes.size())}))});
  pid_t process = 0;
  {
    const hdf5::NoSignals no_signals;
    process = ::fork();
    if (process == 0) serve_mat(library, bytes, path, results.descriptor, lists.descriptor, may_take, options.trusted);
  }
  if (process < 0)
    throw Error(Errc::io_failure,
                file.string() + " cannot be read in a process of its own: " + std::generic_category().message(errno));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    refuse(file, WTERMSIG(status) == SIGVTALRM
                     ? "is damaged: libmatio did not finish reading it"
                     : joined("is damaged: libmatio crashed on it (signal ", WTERMSIG(status), ")"));
  if (WEXITSTATUS(status) == not_filtered) throw Error(Errc::io_failure, file.string() + hdf5::no_filter);
  if (WEXITSTATUS(status) == not_opened)
    refuse(file, "is a MATLAB file of version 4 or 5 that libmatio cannot open: save it with '-v7.3'");
  if (WEXITSTATUS(status) == no_memory) refuse(file, "asks for more memory than --memory or a file of its size allows");
  std::string text(results.size(), '\0');
  const auto got = results.read(file.string(), 0, std::as_writable_bytes(std::span(text)));
  try {
    if (WEXITSTATUS(status) != fine || got != text.size()) throw std::runtime_error("no answer");
    return hdf5::Message(std::move(text)).get<std::vector<MatVariable>>();
  } catch (const std::runtime_error&) {
    refuse(file, "is damaged: the process that reads it gave no answer");
  }
}

#endif

}  // namespace

#ifdef TS_MATIO

std::vector<MatVariable> list_mat(const std::filesystem::path& file, const ReadOptions& options) {
  const Memory lists("tallskinny-lists");
  return ask_matio(file, "", options, lists);
}

MatContent read_mat(const std::filesystem::path& file, const std::string& path, const ReadOptions& options) {
  const auto lists = std::make_shared<const Memory>("tallskinny-lists");
  const auto found = ask_matio(file, path, options, *lists);
  const std::string name = Location{file, path}.text();
  if (found.size() != 1) refuse(name, "has disappeared from its file");
  if (!found.front().problem.empty()) refuse(name, found.front().problem);
  const std::uint64_t size = lists->size();
  return {found.front(), {name, size, [lists, name](std::uint64_t offset, std::span<std::byte> out) {
                            if (lists->read(name, offset, out) < out.size())
                              refuse(name, "is damaged: its lists end early");
                          }}};
}

#else

namespace {
[[noreturn]] void refuse_without(const std::filesystem::path& file) {
  refuse(file,
         "is a MATLAB file of version 4 or 5, and this program was built without the library that reads those: install "
         "libmatio-dev and build it again, or save the file with '-v7.3'");
}
}  // namespace

std::vector<MatVariable> list_mat(const std::filesystem::path& file, const ReadOptions&) { refuse_without(file); }
MatContent read_mat(const std::filesystem::path& file, const std::string&, const ReadOptions&) { refuse_without(file); }

#endif

}  // namespace ts::inline v0::io
