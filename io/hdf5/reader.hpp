// A process that has a file open with HDF5, so that a file that makes HDF5 crash, hang, or do worse, does it
// there: a copy of this process without its rights, which is asked through a socket. It knows objects by
// their paths and keeps nothing that it could not find again.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "tallskinny/io/hdf5/message.hpp"

namespace ts::inline v0::io::hdf5 {

class Reader {
 public:
  /// @throws Error(bad_input) for a file that HDF5 cannot open, Error(io_failure) where no process can be
  /// started.
  Reader(std::shared_ptr<const std::filesystem::path> file, std::shared_ptr<const FileBytes> bytes,
         const OpenOptions& options);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const std::shared_ptr<const std::filesystem::path>& file() const noexcept { return file_; }
  [[nodiscard]] const std::shared_ptr<const FileBytes>& bytes() const noexcept { return bytes_; }

  /// From any thread. @throws what the answer says, and Error(bad_input) where the process has ended instead.
  [[nodiscard]] Message ask(const Message& question);
  /// The same for a question whose answer are the bytes of `out`, which come through shared memory.
  void read(const Message& question, std::span<std::byte> out);
  /// Whether HDF5 finds a plugin for a filter that the process lacks; then another process has taken over, as
  /// a process without rights loads nothing.
  [[nodiscard]] bool load_filter(int number);

  /// Throws Error(bad_input) "FILE is damaged: CAUSE" and what to do.
  [[noreturn]] void damaged(const std::string& cause) const;

 private:
  void start();
  /// Ends the process; how it ended.
  int stop() noexcept;
  [[nodiscard]] Message exchange(const Message& question);
  /// What follows a good outcome. @throws what another one says.
  [[nodiscard]] Message check_answer(std::string bytes) const;
  [[noreturn]] void died();

  std::shared_ptr<const std::filesystem::path> file_;
  std::shared_ptr<const FileBytes> bytes_;
  OpenOptions options_;
  std::mutex one_at_a_time_;
  std::string end_;  ///< how the process ended, if it did
  int socket_ = -1, shared_ = -1;
  pid_t process_ = -1;
  std::byte* window_ = nullptr;  ///< the shared memory, of so many bytes
  std::size_t window_bytes_ = 0;
  std::size_t filters_known_ = 0;  ///< plugins that were loaded when the process was started
};

/// Whole messages over a socket: their length, then their bytes. False where the other end is closed.
[[nodiscard]] bool send_message(int socket, const std::string& bytes);
[[nodiscard]] bool receive_message(int socket, std::string& bytes);

enum class Outcome : std::uint8_t { fine, error, no_memory };
template <>
inline constexpr Outcome greatest<Outcome> = Outcome::no_memory;

/// What a process begins with.
struct Service {
  std::shared_ptr<const std::filesystem::path> file;
  std::shared_ptr<const FileBytes> bytes;
  OpenOptions options;
  std::string absolute;  ///< name of the file
  int socket, shared;
  std::uint64_t address_space;
};
/// The life of such a process.
[[noreturn]] void serve(const Service& service);

}  // namespace ts::inline v0::io::hdf5
