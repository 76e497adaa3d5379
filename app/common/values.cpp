#include <array>
#include <charconv>
#include <cmath>

#include "tallskinny/app/common/options.hpp"

namespace ts::app {

namespace {

template <class T>
bool parse_integer(std::string_view text, T& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  T parsed{};
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error == std::errc{} && stop == end) {
    out = parsed;
    return true;
  }
  // 1e6 and 2.5e3 are exact integers too; 2^53 is where doubles stop being exact.
  double real = 0;
  if (text.find_first_of("eE") == std::string_view::npos || !parse_value(text, real)) return false;
  if (real != std::floor(real) || std::fabs(real) > 0x1p53) return false;
  if (real < static_cast<double>(std::numeric_limits<T>::min()) ||
      real > static_cast<double>(std::numeric_limits<T>::max()))
    return false;
  out = static_cast<T>(real);
  return true;
}

}  // namespace

bool parse_value(std::string_view text, std::string& out) {
  if (text.empty()) return false;
  out = text;
  return true;
}
bool parse_value(std::string_view text, int& out) { return parse_integer(text, out); }
bool parse_value(std::string_view text, std::int64_t& out) { return parse_integer(text, out); }
bool parse_value(std::string_view text, std::uint64_t& out) { return parse_integer(text, out); }
bool parse_value(std::string_view text, double& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  double parsed = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error != std::errc{} || stop != end || std::isnan(parsed)) return false;
  out = parsed;
  return true;
}
bool parse_value(std::string_view text, bool& out) {
  for (const char* yes : {"true", "yes", "on", "1"})
    if (text == yes) return out = true, true;
  for (const char* no : {"false", "no", "off", "0"})
    if (text == no) return out = false, true;
  return false;
}

std::string value_text(const std::string& value) { return value; }
std::string value_text(int value) { return std::to_string(value); }
std::string value_text(std::int64_t value) { return std::to_string(value); }
std::string value_text(std::uint64_t value) { return std::to_string(value); }
std::string value_text(double value) {
  std::array<char, 32> buffer{};
  const auto [stop, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), stop};
}

}  // namespace ts::app
