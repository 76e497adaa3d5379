// Pages for man(1), in the language of groff_man(7).
#include <algorithm>
#include <cctype>
#include <ostream>
#include <sstream>

#include "tallskinny/app/common/man.hpp"

namespace ts::app {

namespace {

/// Text as it is: backslashes, dashes that are typed, and no request at the start of a line.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out.append("\\&").append(1, c);
    else
      out += c;
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// "tsdata-gen" of "tsdata gen".
std::string page_of(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

void print_examples(std::ostream& out, const About& about) {
  if (about.examples.empty()) return;
  out << ".SH EXAMPLES\n";
  for (const auto& [comment, command] : about.examples)
    out << ".PP\n" << roff(comment) << ":\n.PP\n.EX\n.RS 4\n" << roff(command) << "\n.RE\n.EE\n";
}

/// Paragraphs; lines that begin with a space stay as they are.
void print_notes(std::ostream& out, const std::string& notes) {
  if (notes.empty()) return;
  out << ".SH NOTES\n";
  bool as_is = false;
  std::istringstream lines(notes);
  for (std::string line; std::getline(lines, line);) {
    const bool next = line.starts_with(' ');
    if (next != as_is) out << (next ? ".PP\n.EX\n" : ".EE\n");
    if (!next) out << ".PP\n";
    out << roff(line) << '\n';
    as_is = next;
  }
  if (as_is) out << ".EE\n";
}

/// Title, name and synopsis.
void print_man_head(std::ostream& out, const About& about) {
  const std::string page = page_of(about.name);
  out << ".TH " << upper(page) << " 1 \"\" \"tallskinny " << release() << "\" \"User Commands\"\n"
      << ".SH NAME\n"
      << roff(page) << " \\- " << roff(about.summary.substr(0, about.summary.find_last_not_of('.') + 1)) << '\n'
      << ".SH SYNOPSIS\n.B " << roff(about.name) << "\n.RI " << '"' << roff(about.usage) << "\"\n";
}

/// Notes, examples, exit status.
void print_man_tail(std::ostream& out, const About& about) {
  print_notes(out, about.notes);
  print_examples(out, about);
  out << ".SH EXIT STATUS\n.TP\n.B 0\ndone; of a solver: converged and complete\n.TP\n.B 1\nit failed\n.TP\n.B 2\n"
         "the arguments are wrong\n.TP\n.B 3\na solver has not converged or is not complete, and wrote what there is\n"
         ".TP\n.B 4\nan input file cannot be used\n.TP\n.B 5\nthe device that was asked for is not there\n";
}

}  // namespace

void print_man_commands(std::ostream& out, const About& about,
                        const std::vector<std::pair<std::string, std::string>>& commands) {
  print_man_head(out, about);
  out << ".SH COMMANDS\n";
  for (const auto& [name, summary] : commands)
    out << ".TP\n.BR " << roff(page_of(about.name + ' ' + name)) << " (1)\n" << roff(summary) << '\n';
  print_man_tail(out, about);
}

void Options::print_man(std::ostream& out) const {
  print_man_head(out, about_);
  if (!positionals_.empty()) out << ".SH ARGUMENTS\n";
  for (const Positional& positional : positionals_)
    out << ".TP\n.I " << roff(positional.name) << (positional.repeatable ? " ...\n" : "\n") << roff(positional.help)
        << '\n';
  std::string group;
  for (const Entry& entry : entries_) {
    if (entry.hidden) continue;
    if (entry.group != group) out << ".SH " << '"' << roff(upper(group = entry.group)) << "\"\n";
    out << ".TP\n\\fB";
    if (entry.short_name != 0) out << "\\-" << entry.short_name << "\\fR, \\fB";
    out << "\\-\\-" << roff(entry.long_name) << "\\fR";
    if (!entry.value_name.empty()) out << " \\fI" << roff(entry.value_name) << "\\fR";
    out << '\n' << roff(entry.help);
    if (!entry.default_text.empty())
      out << (entry.help.empty() ? "" : " ") << "(default: " << roff(entry.default_text) << ')';
    out << '\n';
  }
  print_man_tail(out, about_);
}

}  // namespace ts::app
