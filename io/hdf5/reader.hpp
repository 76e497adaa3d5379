// A process that has a file open with HDF5, so that a file that makes HDF5 crash, hang, or do worse, does so there. It
// is a copy of this process without its rights, and answers through a socket. It knows objects by their paths and keeps
// nothing that it could not find again.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "tallskinny/io/hdf5/message.hpp"
#include "tallskinny/io/hdf5/node.hpp"

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

  /// Sends a question and waits for the answer; callable from any thread. @throws the error in the answer, and
  /// Error(bad_input) if the process has ended.
  [[nodiscard]] Message ask(const Message& question);
  /// Asks as ask() does. The answer is the bytes of `out`, which come through shared memory.
  void read(const Message& question, std::span<std::byte> out);
  /// Loads HDF5's plugin for a filter that the process lacks; false if there is none. A process without rights loads
  /// nothing, so another one takes over.
  [[nodiscard]] bool load_filter(int number);

  /// Throws Error(bad_input) "FILE is damaged: CAUSE" and what to do.
  [[noreturn]] void damaged(const std::string& cause) const;

 private:
  void start();
  /// Ends the process; how it ended.
  int stop() noexcept;
  [[nodiscard]] Message exchange(const Message& question);
  /// The content of a good answer. @throws the error that any other answer names.
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

/// Arguments of a reader process.
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

/// An object of a file that a reader process has open, seen from this one.
/// Answers are kept, so that the same question has the same answer, whatever became of the process.
class Remote {
 public:
  /// The root group.
  explicit Remote(std::shared_ptr<Reader> reader) : reader_(std::move(reader)), path_("/") {}

  [[nodiscard]] const std::shared_ptr<Reader>& reader() const noexcept { return reader_; }

  /// The value of `call`, a member of Node, from the reader process.
  template <auto call, class... A>
  [[nodiscard]] auto ask(const A&... arguments) const {
    static_assert(number_of<call>() < call_count);
    return ask_member(call, number_of<call>(), arguments...);
  }
  /// The object under an absolute path, if there is one, and whether it is a group. `self` is this one.
  struct Found {
    std::shared_ptr<const Remote> object;
    bool group = true;
  };
  [[nodiscard]] static std::optional<Found> find(const std::shared_ptr<const Remote>& self, const std::string& path);

  // Counterparts of members of Node.
  [[nodiscard]] std::vector<Node::UsedFilter> filters() const;
  [[nodiscard]] bool read_chunk(const Node& self, index_t row, index_t col, std::vector<char>& stored,
                                unsigned& skipped) const;
  void read(const Node& self, index_t begin, index_t end, MemoryType memory, std::span<std::byte> out,
            const std::string& member) const;

 private:
  template <class R, class... P>
  [[nodiscard]] R ask_member(R (Node::*)(P...) const, std::uint8_t number, const std::decay_t<P>&... arguments) const {
    Message question;
    question.put(number).put(path_);
    (question.put(arguments), ...);
    Message answer = known(question);
    return value_of<R>(answer);
  }
  /// The answer, from the process if it was never given before.
  [[nodiscard]] Message known(const Message& question) const;
  /// The next value of an answer.
  template <class R>
  [[nodiscard]] R value_of(Message& answer) const {
    try {
      return answer.get<R>();
    } catch (const std::runtime_error&) {
      reader_->damaged("the process that reads it gave an invalid answer");
    }
  }

  std::shared_ptr<Reader> reader_;
  std::shared_ptr<const Remote> root_;  ///< nothing for the root itself
  std::string path_;
  mutable std::mutex kept_, raw_kept_;
  mutable std::map<std::string, Message> answers_;
  mutable std::map<MemoryType, std::optional<RawElements>> raw_;
  mutable std::map<std::pair<index_t, index_t>, Node::StoredChunk> chunks_;  ///< that were asked for together
};

}  // namespace ts::inline v0::io::hdf5
