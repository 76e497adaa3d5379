// The help page, at most 80 columns wide.
#include <ostream>
#include <sstream>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"

namespace ts::app {

namespace {

constexpr std::size_t page = 79, column = 28;

void print_item(std::ostream& out, const std::string& left, const std::string& text) {
  const auto lines = wrap(text, page - column);
  out << left;
  std::size_t at = left.size();
  if (at + 2 > column) out << '\n', at = 0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    out << std::string(i == 0 ? column - at : column, ' ') << lines[i] << '\n';
  if (lines.empty()) out << '\n';
}

std::string left_side(const Options::Entry& entry) {
  std::string left = entry.short_name == 0 ? "      " : std::string("  -") + entry.short_name + ", ";
  left += "--" + entry.long_name;
  if (!entry.value_name.empty()) left += ' ' + entry.value_name;
  return left;
}

}  // namespace

void Options::print_help(std::ostream& out) const {
  out << "Usage: " << about_.name << ' ' << about_.usage << "\n\n";
  for (const std::string& line : wrap(about_.summary, page)) out << line << '\n';

  if (!positionals_.empty()) out << "\nArguments:\n";
  for (const Positional& positional : positionals_)
    print_item(out, "  " + positional.name + (positional.repeatable ? " ..." : ""), positional.help);

  std::vector<std::string> groups;
  for (const Entry& entry : entries_)
    if (groups.empty() || groups.back() != entry.group) groups.push_back(entry.group);
  for (const std::string& title : groups) {
    out << '\n' << title << ":\n";
    for (const Entry& entry : entries_)
      if (entry.group == title)
        print_item(out, left_side(entry),
                   entry.default_text.empty() ? entry.help : entry.help + " (default: " + entry.default_text + ")");
  }

  if (!about_.notes.empty()) {
    out << '\n';
    std::istringstream paragraphs(about_.notes);
    for (std::string paragraph; std::getline(paragraphs, paragraph);)
      if (paragraph.starts_with(' '))  // laid out by hand
        out << paragraph << '\n';
      else
        for (const std::string& line : wrap(paragraph, page)) out << line << '\n';
  }
  if (!about_.examples.empty()) out << "\nExamples:\n";
  for (const auto& example : about_.examples) {
    for (const std::string& line : wrap(example.comment, page - 4)) out << "  # " << line << '\n';
    out << "  " << example.command << '\n';
  }
}

}  // namespace ts::app
