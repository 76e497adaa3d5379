// The reader process. It is a copy of one thread of its program: it starts no thread, prints nothing,
// takes no lock that another thread may have held, and leaves without the exit handlers of the program.
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <new>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/message.hpp"
#include "tallskinny/io/hdf5/reader.hpp"
#include "tallskinny/io/hdf5/sandbox.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

constexpr double most_seconds = 60, least_rate = 4e6;  ///< of computing for an answer; bytes read in a second

class Server {
 public:
  explicit Server(const Service& service)
      : service_(service),
        root_(open_here(service.file, service.absolute,
                        descriptor_access(service.bytes->descriptor(), service.bytes->size()), service.bytes,
                        service.options)) {}

  [[nodiscard]] Message answer(const std::string& asked) {
    Message question(asked);
    const auto number = question.get<std::uint8_t>();
    const auto path = question.get<std::string>();
    Message answer;
    answer.put(Outcome::fine);
    if (number == call_find) {
      const Node* const node = find(path);
      answer.put(node != nullptr ? std::optional(node->is_group()) : std::nullopt);
      if (node != nullptr) answer.put(what_will_be_asked(*node, path));
    } else if (number == call_read) {
      read(object(path), question);
    } else {
      std::uint8_t here = 0;
      std::apply(
          [&](auto... calls) { ((here++ == number ? call(calls, object(path), question, answer) : void()), ...); },
          all_calls);
    }
    return answer;
  }

 private:
  /// The object, which stays open as long as a few others do.
  [[nodiscard]] const Node* find(const std::string& path) {
    constexpr std::size_t most_open = 16;
    if (const auto there = open_.find(path); there != open_.end()) return &there->second;
    auto found = root_.find(path);
    if (!found) return nullptr;
    if (open_.size() >= most_open) open_.clear();
    return &open_.emplace(path, std::move(*found)).first->second;
  }
  [[nodiscard]] const Node& object(const std::string& path) {
    const Node* const found = find(path);
    if (found == nullptr) root_.refuse("has lost its object " + path);
    return *found;
  }

  /// Answers to the questions that follow every lookup of an object; sent with it to save round trips.
  [[nodiscard]] static std::vector<Answered> what_will_be_asked(const Node& node, const std::string& path) {
    std::vector<Answered> answers;
    const auto add = [&](std::uint8_t number, auto member) {
      try {
        answers.push_back({Message().put(number).put(path).bytes(), Message().put((node.*member)()).bytes()});
      } catch (const Error&) {  // for who asks
      }
    };
    add(number_of<&Node::address>(), &Node::address);
    add(number_of<&Node::attributes>(), &Node::attributes);
    if (node.is_group()) return answers;
    add(number_of<&Node::dims>(), &Node::dims);
    add(number_of<&Node::element_type>(), &Node::element_type);
    add(number_of<&Node::members>(), &Node::members);
    add(number_of<&Node::chunk_rows>(), &Node::chunk_rows);
    add(number_of<&Node::outside>(), &Node::outside);
    return answers;
  }

  template <class R, class... P>
  static void call(R (Node::*member)(P...) const, const Node& node, Message& question, Message& answer) {
    std::tuple<std::decay_t<P>...> arguments{question.get<std::decay_t<P>>()...};  // braces: from left to right
    answer.put(std::apply([&](const auto&... a) { return (node.*member)(a...); }, arguments));
  }

  void read(const Node& node, Message& question) {
    const auto begin = question.get<index_t>(), end = question.get<index_t>();
    const auto memory = question.get<MemoryType>();
    const auto member = question.get<std::string>();
    const auto bytes = question.get<std::size_t>();
    allow_seconds(most_seconds + static_cast<double>(bytes) / least_rate);
    if (bytes > window_.size()) {
      if (!window_.empty()) ::munmap(window_.data(), window_.size());
      void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, service_.shared, 0);
      window_ = {};
      if (mapped == MAP_FAILED) throw std::bad_alloc();
      window_ = {static_cast<std::byte*>(mapped), bytes};
    }
    node.read(begin, end, memory, window_.first(bytes), member);
  }

  const Service& service_;
  Node root_;
  std::map<std::string, Node> open_;
  std::span<std::byte> window_;
};

/// (A sanitizer that asks whether an error is one needs a pipe for that.)
template <class Action>
__attribute__((no_sanitize("vptr"))) Message guarded(Action action) {
  try {
    return action();
  } catch (const Error& error) {
    return Message().put(Outcome::error).put(error.code()).put(error.what());
  } catch (const std::bad_alloc&) {
    return Message().put(Outcome::no_memory);
  } catch (const std::exception& error) {
    return Message().put(Outcome::error).put(Errc::bad_input).put(error.what());
  }
}

}  // namespace

void serve(const Service& service) {
  new (&library_lock()) std::recursive_mutex;  // which the copied thread has locked under another number
  const bool filtered =
      give_up_rights({service.socket, service.shared, service.bytes->descriptor()}, service.address_space);
  allow_seconds(most_seconds);
  std::optional<Server> server;
  const Message first = guarded([&] {
    if (!filtered) throw Error(Errc::io_failure, service.file->string() + no_filter);
    server.emplace(service);
    return Message().put(Outcome::fine);
  });
  std::string question;
  bool go_on = send_message(service.socket, first.bytes()) && server;
  while (go_on && receive_message(service.socket, question)) {
    allow_seconds(most_seconds);
    go_on = send_message(service.socket, guarded([&] { return server->answer(question); }).bytes());
  }
  ::_exit(0);
}

}  // namespace ts::inline v0::io::hdf5
