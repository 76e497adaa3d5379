#include "tallskinny/app/common/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::app {

Options::Options(About about) : about_(std::move(about)) {}

Options& Options::group(std::string title) {
  group_ = std::move(title);
  return *this;
}

Options& Options::custom(std::string_view names, std::string value_name, std::string default_text, std::string help,
                         std::string what, std::function<bool(std::string_view)> assign) {
  Entry entry;
  const auto comma = names.find(',');
  entry.long_name = names.substr(0, comma);
  if (comma != std::string_view::npos) entry.short_name = names.at(comma + 1);
  entry.value_name = std::move(value_name);
  entry.default_text = std::move(default_text);
  entry.help = std::move(help);
  entry.what = std::move(what);
  entry.group = group_;
  entry.assign = std::move(assign);
  entries_.push_back(std::move(entry));
  return *this;
}

Options& Options::flag(std::string_view names, bool& target, std::string help) {
  return custom(names, {}, {}, std::move(help), "true or false",
                [&target](std::string_view text) { return parse_value(text, target); });
}

Options& Options::values(std::string_view names, std::string value_name, std::vector<std::string>& target,
                         std::string help) {
  custom(names, std::move(value_name), {}, std::move(help), "a text", [&target](std::string_view text) {
    if (text.empty()) return false;
    target.emplace_back(text);
    return true;
  });
  entries_.back().repeatable = true;
  return *this;
}

Options& Options::file(std::string_view names, std::string value_name, std::string& target, std::string help,
                       std::string what) {
  return custom(names, std::move(value_name), target, std::move(help), std::move(what),
                [&target](std::string_view text) { return parse_value(text, target); });
}

Options& Options::known_as(std::vector<std::string> names) {
  entries_.back().elsewhere = std::move(names);
  return *this;
}

Options& Options::add_positional(std::string name, std::string help, bool required, std::string what,
                                 std::function<bool(std::string_view)> assign) {
  positionals_.push_back({std::move(name), std::move(help), std::move(what), required, false, std::move(assign)});
  return *this;
}

Options& Options::rest(std::string name, std::vector<std::string>& target, std::string help, bool required) {
  add_positional(std::move(name), std::move(help), required, "a text", [&target](std::string_view text) {
    target.emplace_back(text);
    return true;
  });
  positionals_.back().repeatable = true;
  return *this;
}

bool Options::given(std::string_view long_name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [long_name](const Entry& entry) { return entry.given && entry.long_name == long_name; });
}

bool Options::changed(std::string_view long_name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [long_name](const Entry& entry) { return entry.changed && entry.long_name == long_name; });
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
  if (word.size() < 2) return {};
  const auto distance = [](std::string_view a, std::string_view b) {  // Levenshtein, one row at a time
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      }
    }
    return row[b.size()];
  };
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const bool extends = word.size() >= 3 && name.starts_with(word);
    const std::size_t d = extends ? 1 : distance(word, name);
    if (d < best_distance && d < name.size()) best = name, best_distance = d;
  }
  return best;
}

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

std::string version_text(std::string_view program) {
  return std::string(program.substr(0, program.find(' '))) + " (tallskinny) " TS_VERSION " (" +
         (cuda::built() ? "with" : "without") + " the CUDA runtime, " TS_BUILD_TYPE ", " TS_COMPILER ")";
}

std::string release() { return TS_VERSION; }

}  // namespace ts::app
