// An object of a file that a reader process has open, seen from this one.
#pragma once

#include <map>
#include <mutex>

#include "tallskinny/io/hdf5/calls.hpp"
#include "tallskinny/io/hdf5/raw_rows.hpp"
#include "tallskinny/io/hdf5/reader.hpp"

namespace ts::inline v0::io::hdf5 {

/// Answers are kept, so that the same question has the same answer, whatever became of the process.
class Remote {
 public:
  /// The root group.
  explicit Remote(std::shared_ptr<Reader> reader) : reader_(std::move(reader)), path_("/") {}

  [[nodiscard]] const std::shared_ptr<Reader>& reader() const noexcept { return reader_; }

  /// What `call`, a member of Node, returns there.
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

  // As those of Node.
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
      reader_->damaged("the process that reads it answered nonsense");
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
