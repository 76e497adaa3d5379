#include "tallskinny/io/hdf5/reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>
#include <system_error>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/sandbox.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

constexpr std::size_t longest_message = std::size_t{256} << 20;
constexpr std::size_t small_window = std::size_t{64} << 20;     ///< bytes that are kept between readings
constexpr std::uint64_t own_memory = std::uint64_t{512} << 20;  ///< of HDF5 and this library, whatever the file

/// Filters that HDF5 has loaded as plugins into this process. Under library_lock().
std::set<int>& loaded_filters() {
  static std::set<int> loaded;
  return loaded;
}

}  // namespace

bool send_message(int socket, const std::string& bytes) {
  const std::size_t count = bytes.size();
  std::string whole(reinterpret_cast<const char*>(&count), sizeof count);
  whole += bytes;
  for (std::string_view left = whole; !left.empty();) {
    const auto sent = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_message(int socket, std::string& bytes) {
  std::size_t count = 0, got = 0;  // of the message with its length before it
  bytes.resize(std::size_t{4} << 10);
  for (;;) {
    const auto received = ::read(socket, bytes.data() + got, bytes.size() - got);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    got += static_cast<std::size_t>(received);
    if (got < sizeof count) continue;
    std::memcpy(&count, bytes.data(), sizeof count);
    if (count > longest_message) return false;
    count += sizeof count;
    if (got == count) break;
    if (got > count) return false;  // more than was asked for
    bytes.resize(count);
  }
  bytes.erase(0, sizeof count).resize(count - sizeof count);
  return true;
}

Reader::Reader(std::shared_ptr<const std::filesystem::path> file, std::shared_ptr<const FileBytes> bytes,
               const OpenOptions& options)
    : file_(std::move(file)), bytes_(std::move(bytes)), options_(options) {
  try {
    start();
  } catch (...) {
    stop();
    throw;
  }
}

Reader::~Reader() { stop(); }

void Reader::start() {
  const auto check = [this](bool fine) {
    if (!fine)
      throw Error(Errc::io_failure, file_->string() + " cannot be read in a process of its own: " +
                                        std::generic_category().message(errno) +
                                        "; --trust-input reads it in this one");
  };
  start_library();
  const std::uint64_t allowed = options_.memory_limit != 0 ? options_.memory_limit : available_memory();
  Service service{file_, bytes_, options_, std::filesystem::absolute(*file_).string(), -1, -1, 0};
  // Memory that the file asks for, which is no more than it can fill.
  service.address_space = sum(
      {address_space(), own_memory, std::min(allowed, product({best_deflate, static_cast<index_t>(bytes_->size())}))});
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  socket_ = ends[0], service.socket = ends[1];
  shared_ = service.shared = ::memfd_create("tallskinny", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // Nobody takes away what is mapped here.
  const bool made = shared_ >= 0 && ::fcntl(shared_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
  if (made) {
    // No other thread is inside HDF5 while the process is copied, so that the copy finds it as a whole.
    const std::lock_guard alone(library_lock());
    const NoSignals no_signals;
    filters_known_ = loaded_filters().size();
    process_ = ::fork();
    if (process_ == 0) serve(service);
  }
  const int cause = errno;
  ::close(ends[1]);
  errno = cause;
  check(made && process_ > 0);
  std::string first;
  if (!receive_message(socket_, first)) died();
  (void)check_answer(std::move(first));
}

int Reader::stop() noexcept {
  if (socket_ >= 0) ::close(socket_);
  if (window_ != nullptr) ::munmap(window_, window_bytes_);
  if (shared_ >= 0) ::close(shared_);
  int status = 0;
  if (process_ > 0)
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
  socket_ = shared_ = -1, process_ = -1;
  window_ = nullptr, window_bytes_ = 0;
  return status;
}

void Reader::damaged(const std::string& cause) const {
  refuse(*file_,
         joined("is damaged: ", cause, "; take another copy of it, or have the program that wrote it write it again"));
}

void Reader::died() {
  if (end_.empty()) {
    const int status = stop(), number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end_ = number == SIGVTALRM ? "HDF5 did not finish reading it"
           : number != 0       ? joined("HDF5 crashed on it (signal ", number, ", in a process of its own)")
                         : joined("HDF5 ended the process (status ", WEXITSTATUS(status), ", in a process of its own)");
  }
  damaged(end_);
}

Message Reader::exchange(const Message& question) {
  std::string bytes;
  if (!end_.empty() || !send_message(socket_, question.bytes()) || !receive_message(socket_, bytes)) died();
  return check_answer(std::move(bytes));
}

Message Reader::check_answer(std::string bytes) const {
  Message answer(std::move(bytes));
  auto outcome = Outcome::fine;
  auto code = Errc::bad_input;
  std::string sentence;
  try {
    outcome = answer.get<Outcome>();
    if (outcome == Outcome::error) code = answer.get<Errc>(), sentence = answer.get<std::string>();
  } catch (const std::runtime_error&) {
    damaged("the process that reads it gave an invalid answer");
  }
  if (outcome == Outcome::error) throw Error(code, sentence);
  if (outcome == Outcome::no_memory)
    refuse(*file_,
           "asks for more memory than --memory or a file of its size allows; "
           "--trust-input reads it without that limit");
  return answer;
}

Message Reader::ask(const Message& question) {
  const std::lock_guard lock(one_at_a_time_);
  return exchange(question);
}

void Reader::read(const Message& question, std::span<std::byte> out) {
  const std::lock_guard lock(one_at_a_time_);
  if (!end_.empty()) died();
  if (out.size() > window_bytes_) {
    if (window_ != nullptr) ::munmap(window_, window_bytes_);
    window_ = nullptr, window_bytes_ = 0;
    void* const mapped = ::ftruncate(shared_, static_cast<off_t>(out.size())) == 0
                             ? ::mmap(nullptr, out.size(), PROT_READ, MAP_SHARED, shared_, 0)
                             : MAP_FAILED;
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    window_ = static_cast<std::byte*>(mapped), window_bytes_ = out.size();
  }
  (void)exchange(question);
  std::copy_n(window_, out.size(), out.data());
  if (window_bytes_ > small_window)
    ::fallocate(shared_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(window_bytes_));
}

bool Reader::load_filter(int number) {
  const std::lock_guard lock(one_at_a_time_);
  {
    const Quiet quiet;
    if (H5Zfilter_avail(number) <= 0) return false;
    loaded_filters().insert(number);
    if (loaded_filters().size() == filters_known_) return true;
  }
  stop();
  start();
  return true;
}

namespace {

constexpr std::size_t block_bytes = std::size_t{4} << 20;  ///< that come at a time
constexpr index_t chunks_at_a_time = 4096;

}  // namespace

Message Remote::known(const Message& question) const {
  const std::lock_guard lock(kept_);
  const auto found = answers_.find(question.bytes());
  if (found != answers_.end()) return found->second;
  return answers_.emplace(question.bytes(), reader_->ask(question)).first->second;
}

std::optional<Remote::Found> Remote::find(const std::shared_ptr<const Remote>& self, const std::string& path) {
  const auto& root = self->root_ ? self->root_ : self;
  if (path == "/") return Found{root, true};
  Message answer = self->reader_->ask(Message().put(call_find).put(path));
  const auto group = self->value_of<std::optional<bool>>(answer);
  if (!group) return std::nullopt;
  auto found = std::make_shared<Remote>(self->reader_);
  found->root_ = root, found->path_ = path;
  for (auto& [question, known] : self->value_of<std::vector<Answered>>(answer))
    found->answers_.emplace(std::move(question), Message(std::move(known)));
  return Found{std::move(found), *group};
}

std::vector<Node::UsedFilter> Remote::filters() const {
  auto used = ask<&Node::filters>();
  for (Node::UsedFilter& filter : used)
    if (!filter.available) filter.available = reader_->load_filter(filter.number);
  return used;
}

bool Remote::read_chunk(const Node& self, index_t row, index_t col, std::vector<char>& stored,
                        unsigned& skipped) const {
  Node::StoredChunk chunk;
  {
    const std::lock_guard lock(kept_);
    auto found = chunks_.find({row, col});
    if (found == chunks_.end()) {
      chunks_.clear();
      const Message question =
          Message().put(number_of<&Node::chunk_places>()).put(path_).put(row).put(col).put(chunks_at_a_time);
      Message answer = reader_->ask(question);
      const auto places = value_of<std::vector<Node::StoredChunk>>(answer);
      if (places.empty()) self.refuse("has no chunk at row " + std::to_string(row));
      for (const auto& place : places) chunks_[{place.row, place.col}] = place;
      found = chunks_.find({row, col});
      if (found == chunks_.end()) self.refuse("has no chunk at row " + std::to_string(row));
    }
    chunk = found->second;
  }
  if (chunk.bytes == 0) return false;
  const std::uint64_t size = reader_->bytes()->size();
  stored.clear();
  if (chunk.offset <= size && chunk.bytes <= size - chunk.offset) stored.resize(chunk.bytes);
  if (stored.empty() ||
      reader_->bytes()->read(chunk.offset, std::as_writable_bytes(std::span(stored))) != stored.size())
    self.refuse("cannot be read: it is damaged or truncated (the file ends within a chunk)");
  skipped = chunk.skipped;
  return true;
}

void Remote::read(const Node& self, index_t begin, index_t end, MemoryType memory, std::span<std::byte> out,
                  const std::string& member) const {
  const std::size_t row_bytes = out.size() / static_cast<std::size_t>(end - begin);
  if (member.empty()) {
    const std::lock_guard lock(raw_kept_);
    auto found = raw_.find(memory);
    if (found == raw_.end()) found = raw_.emplace(memory, RawElements::of(self, memory)).first;
    if (found->second)
      return found->second->read(static_cast<std::uint64_t>(begin) * row_bytes, out.size(), out.data());
  }
  // Blocks end where chunks end, so that none is decompressed twice.
  const index_t chunk = std::max<index_t>(1, self.chunk_rows());
  const auto rows = static_cast<index_t>(block_bytes / std::max<std::size_t>(1, row_bytes));
  const index_t block = std::max<index_t>(1, rows / chunk) * chunk;
  for (index_t from = begin; from < end;) {
    const index_t left = block - from % block, to = end - from <= left ? end : from + left;
    const std::size_t bytes = static_cast<std::size_t>(to - from) * row_bytes;
    Message question;
    question.put(call_read).put(path_).put(from).put(to).put(memory).put(member).put(bytes);
    reader_->read(question, out.subspan(static_cast<std::size_t>(from - begin) * row_bytes, bytes));
    from = to;
  }
}

}  // namespace ts::inline v0::io::hdf5
