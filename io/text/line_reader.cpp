#include "tallskinny/io/text/line_reader.hpp"

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {
constexpr std::size_t first_size = std::size_t{1} << 20;
constexpr std::uint64_t longest_line = std::uint64_t{1} << 30, always_allowed = std::uint64_t{64} << 20;
constexpr index_t usual_ratio = 64;  ///< more than gzip makes of numbers in text
constexpr std::string_view blanks = " \t\r\n\v\f";
}  // namespace

struct LineReader::Stream {
  gzFile file = nullptr;
  ~Stream() {
    if (file != nullptr) gzclose_r(file);
  }
};

LineReader::LineReader(std::filesystem::path file, std::uint64_t memory_limit)
    : file_(std::move(file)), limit_(memory_limit), stream_(std::make_unique<Stream>()), buffer_(first_size) {
  const FileBytes bytes(file_);
  longest_ =
      std::min(longest_line, std::max(always_allowed, product({usual_ratio, static_cast<index_t>(bytes.size())})));
  const int descriptor = ::fcntl(bytes.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor >= 0) stream_->file = gzdopen(descriptor, "rb");  // reads plain files as they are
  if (stream_->file == nullptr) io::refuse(file_, "cannot be opened");
  gzbuffer(stream_->file, 1 << 18);
}
LineReader::~LineReader() = default;

void LineReader::refuse(const std::string& cause) const {
  io::refuse(file_, joined("line ", number_, ": ", printable(cause)));
}

void LineReader::hold(std::uint64_t bytes) {
  held_ = sum({held_, bytes});
  if (held_ - checked_ < first_size && checked_ > 0) return;  // looked at once for many small ones
  require_memory(sum({held_, buffer_.size() - first_size}), limit_, file_.string());
  checked_ = held_;
}

void LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    searched_ -= begin_, end_ -= begin_, begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= longest_) refuse("is longer than " + readable_bytes(longest_));
    require_memory(sum({held_, 3 * buffer_.size()}), limit_,
                   file_.string());  // the old one, and one twice as long
    buffer_.resize(2 * buffer_.size());
  }
  const auto room = static_cast<unsigned>(buffer_.size() - end_);
  const int got = gzread(stream_->file, buffer_.data() + end_, room);
  int status = Z_OK;
  const char* message = gzerror(stream_->file, &status);
  if (status == Z_ERRNO) io::refuse(file_, joined("cannot be read: ", std::generic_category().message(errno)));
  if (got < 0 || (status != Z_OK && status != Z_STREAM_END))
    throw Error(Errc::bad_input, file_.string() + (status == Z_BUF_ERROR ? " is truncated: its gzip stream ends early"
                                                                         : joined(" cannot be read after line ",
                                                                                  number_, " (", message, ")")));
  finished_ = got == 0;
  end_ += static_cast<std::size_t>(got);
}

/// Leaves out a byte order mark, and refuses text in units of two or four bytes, with or without one.
void LineReader::begin() {
  begun_ = true;
  while (end_ < 4 && !finished_) fill();
  const std::string_view start(buffer_.data(), end_);
  const auto zero = [&](std::size_t i) { return i < start.size() && start[i] == '\0'; };
  const bool marked = start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff");
  if (const bool wide = (marked && zero(2) && zero(3)) || (zero(0) && zero(1) && start.substr(2, 2) == "\xfe\xff");
      wide || marked || (zero(0) != zero(1) && zero(2) == zero(0) && zero(3) == zero(1)))
    io::refuse(file_, joined("is ", wide ? "UTF-32" : "UTF-16",
                             " text (a spreadsheet calls it Unicode text): save it as UTF-8, as iconv -f ",
                             wide ? "UTF-32" : "UTF-16", " -t UTF-8 does"));
  if (start.starts_with("\xef\xbb\xbf")) begin_ = searched_ = 3;
}

std::optional<std::string_view> LineReader::next() {
  if (!begun_) begin();
  for (;;) {
    const char* data = buffer_.data();
    if (const void* found = std::memchr(data + searched_, '\n', end_ - searched_)) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - data);
      std::string_view line(data + begin_, at - begin_);
      begin_ = searched_ = at + 1;
      ++number_;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      return line;
    }
    searched_ = end_;
    if (finished_) break;
    fill();
  }
  if (begin_ == end_) return std::nullopt;
  const std::string_view line(buffer_.data() + begin_, end_ - begin_);
  begin_ = end_;
  ++number_;
  return line;
}

std::optional<std::string_view> LineReader::next_content(char comment) {
  while (const auto line = next())
    if (const auto text = trimmed(*line); !text.empty() && text.front() != comment) return text;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string_view next_word(std::string_view& rest) noexcept {
  std::size_t i = 0;
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (i < rest.size() && blank(rest[i])) ++i;
  std::size_t end = i;
  while (end < rest.size() && !blank(rest[end])) ++end;
  const std::string_view word = rest.substr(i, end - i);
  rest.remove_prefix(end);
  return word;
}

std::optional<double> to_number(std::string_view word) noexcept {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  double value = 0;
  const char* end = word.data() + word.size();
  auto [stop, status] = std::from_chars(word.data(), end, value);
  if (status == std::errc{} && stop == end && !word.empty()) return value;
  if (status == std::errc::result_out_of_range && stop == end) {
    // Tiny numbers are zero and huge ones infinite; from_chars does not say which.
    std::array<char, 64> copy{};
    if (word.size() >= copy.size()) return std::nullopt;
    std::copy(word.begin(), word.end(), copy.begin());
    return std::strtod(copy.data(), nullptr);
  }
  // Fortran writes the exponent of a double with D.
  std::array<char, 64> copy{};
  const auto d = word.find_first_of("dD");
  if (d == std::string_view::npos || d == 0 || word.size() >= copy.size()) return std::nullopt;
  std::copy(word.begin(), word.end(), copy.begin());
  copy[d] = 'e';
  const std::size_t sign = d + 1 < word.size() && copy[d + 1] == '+' ? 1 : 0;  // "1D+5" -> "1e5"
  if (sign == 1)
    std::copy(copy.begin() + static_cast<std::ptrdiff_t>(d) + 2, copy.end(),
              copy.begin() + static_cast<std::ptrdiff_t>(d) + 1);
  const char* copy_end = copy.data() + word.size() - sign;
  const auto again = std::from_chars(copy.data(), copy_end, value);
  if (again.ec != std::errc{} || again.ptr != copy_end) return std::nullopt;
  return value;
}

std::optional<index_t> to_integer(std::string_view word) noexcept {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  index_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, status] = std::from_chars(word.data(), end, value);
  if (status != std::errc{} || stop != end || word.empty()) return std::nullopt;
  return value;
}

}  // namespace ts::inline v0::io
