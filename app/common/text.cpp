#include "tallskinny/app/common/text.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <sstream>
#include <string_view>
#include <utility>

namespace ts::app {

namespace {

template <class... Values>
std::string printed(const char* format, Values... values) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > width)
      lines.push_back(word);
    else
      lines.back() += ' ' + word;
  }
  return lines;
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 0.9995e-3) return printed("%.0f us", seconds * 1e6);
  if (seconds < 0.9995) return printed("%.0f ms", seconds * 1e3);
  if (seconds < 9.995) return printed("%.2f s", seconds);
  if (seconds < 99.5) return printed("%.1f s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return printed("%lld min %02lld s", whole / 60, whole % 60);
  return printed("%lld h %02lld min", whole / 3600, whole % 3600 / 60);
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string short_number(double value, int digits) { return printed("%.*g", digits, value); }

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n')
      out += c;
  }
  return out;
}

namespace {

constexpr std::pair<std::string_view, std::string_view> flags[] = {{"`nev`", "--nev"},
                                                                   {"`which`", "--which"},
                                                                   {"`target`", "--sigma"},
                                                                   {"`tol`", "--tol"},
                                                                   {"`convergence`", "--conv"},
                                                                   {"`method`", "--method"},
                                                                   {"`precision`", "--precision"},
                                                                   {"`preconditioner`", "--preconditioner"},
                                                                   {"`block_size`", "--block-size"},
                                                                   {"`max_basis`", "--max-basis"},
                                                                   {"`max_iterations`", "--max-iter"},
                                                                   {"`centred`", "--centre"},
                                                                   {"`symmetrise`", "--symmetrise"},
                                                                   {"`algorithm`", "--algorithm"},
                                                                   {"`predict`", "--predict"},
                                                                   {"`transform`", "--transform"},
                                                                   {"`sample`", "--sample"}};

}  // namespace

std::string with_flags(std::string sentence) {
  for (const auto& [member, flag] : flags)
    for (auto at = sentence.find(member); at != std::string::npos; at = sentence.find(member, at))
      sentence.replace(at, member.size(), flag);
  return sentence;
}

}  // namespace ts::app
