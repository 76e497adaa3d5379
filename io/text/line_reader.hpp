// Lines of a text file in UTF-8, plain or gzip-compressed, with their numbers, and the numbers in them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::io {

class LineReader {
 public:
  /// @param memory_limit  bytes that the reader and its caller may hold of the file; 0: what is free
  /// @throws Error(bad_input) when the file cannot be opened.
  explicit LineReader(std::filesystem::path file, std::uint64_t memory_limit = 0);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end; nothing at the end of the file. Valid until the next call.
  /// @throws Error(bad_input) for a damaged or truncated gzip stream, or a line above 1 GB or 64 times the
  /// file, or UTF-16; Error(out_of_memory) for a line beyond the limit.
  [[nodiscard]] std::optional<std::string_view> next();
  /// The next line that holds more than blanks and does not begin with `comment`, without blanks at its ends.
  [[nodiscard]] std::optional<std::string_view> next_content(char comment);
  /// Number of the line that next() gave last, from 1.
  [[nodiscard]] index_t number() const noexcept { return number_; }

  /// Counts memory that is taken for what was read. @throws Error(out_of_memory) beyond the limit.
  void hold(std::uint64_t bytes);

  /// Throws Error(bad_input) "FILE line N: CAUSE".
  [[noreturn]] void refuse(const std::string& cause) const;

 private:
  void fill();
  void begin();

  struct Stream;
  std::filesystem::path file_;
  std::uint64_t longest_ = 0;                     ///< line, in bytes
  std::uint64_t limit_, held_ = 0, checked_ = 0;  ///< bytes: allowed, taken, taken when that was last checked
  std::unique_ptr<Stream> stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, searched_ = 0;
  bool begun_ = false, finished_ = false;
  index_t number_ = 0;
};

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
[[nodiscard]] std::string lower_case(std::string_view text);
/// Cuts the next word off the front of `rest`; "" when there is none.
[[nodiscard]] std::string_view next_word(std::string_view& rest) noexcept;

/// The whole word as a number: also "+1", "1.5D-3" (Fortran), "nan", "inf".
[[nodiscard]] std::optional<double> to_number(std::string_view word) noexcept;
[[nodiscard]] std::optional<index_t> to_integer(std::string_view word) noexcept;

}  // namespace ts::inline v0::io
