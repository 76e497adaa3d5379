// Lines of a text file, plain or gzip-compressed, with their numbers, and the numbers in them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::io {

class LineReader {
 public:
  /// @throws Error(bad_input) when the file cannot be opened.
  explicit LineReader(std::filesystem::path file);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end; nothing at the end of the file. Valid until the next call.
  /// @throws Error(bad_input) for a damaged or truncated gzip stream, or a line above 1 GB.
  [[nodiscard]] std::optional<std::string_view> next();
  /// The next line that holds more than blanks and does not begin with `comment`, without blanks at its ends.
  [[nodiscard]] std::optional<std::string_view> next_content(char comment);
  /// Number of the line that next() gave last, from 1.
  [[nodiscard]] index_t number() const noexcept { return number_; }

  /// Throws Error(bad_input) "FILE line N: CAUSE".
  [[noreturn]] void refuse(const std::string& cause) const;

 private:
  void fill();

  struct Stream;
  std::filesystem::path file_;
  std::unique_ptr<Stream> stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, searched_ = 0;
  bool finished_ = false;
  index_t number_ = 0;
};

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
[[nodiscard]] std::string lower_case(std::string_view text);
/// Cuts the next word off the front of `rest`; "" when there is none.
[[nodiscard]] std::string_view next_word(std::string_view& rest) noexcept;

/// The whole word as a number: also "+1", "1.5D-3" (Fortran), "nan", "inf".
[[nodiscard]] std::optional<double> to_number(std::string_view word) noexcept;
[[nodiscard]] std::optional<index_t> to_integer(std::string_view word) noexcept;

}  // namespace ts::io
