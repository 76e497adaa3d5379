#include "tallskinny/app/common/options.hpp"

#include <algorithm>
#include <numeric>

#include "tallskinny/gemm/core/error.hpp"

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

}  // namespace ts::app
