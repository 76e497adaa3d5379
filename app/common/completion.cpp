#include "tallskinny/app/common/completion.hpp"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <sstream>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

namespace {

/// Small letters; or two capital ones, as ends of a spectrum have (LA). Placeholders are longer or one letter.
bool is_word(std::string_view text) {
  const auto capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (text.size() == 2 && capital(text[0]) && capital(text[1])) return true;
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '|';
  });
}

/// The parts of "auto|cpu|cuda[:I]" up to a bracket. Of bars that follow one another all but the last belong to the
/// word before: "k-means||".
std::vector<std::string> alternatives(const std::string& text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t bars = 0;
    while (i + bars < text.size() && text[i + bars] == '|') ++bars;
    if (bars == 0) {
      parts.back() += text[i];
      continue;
    }
    if (bars > 1) parts.back().append(bars - 1, '|');
    parts.emplace_back();
    i += bars - 1;
  }
  for (std::string& part : parts) part.resize(std::min(part.size(), part.find('[')));
  return parts;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all.append(all.empty() ? "" : " ").append(word);
  return all;
}

/// "_tsdata_gen" of "tsdata gen".
std::string function_of(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return '_' + name;
}

/// The text with a backslash before each of these characters.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// For single quotes of a shell, which hold all but themselves.
std::string for_quotes(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "’";
    else
      out += c;
  }
  return out;
}

/// Help as a title: up to its first full stop, semicolon or colon.
std::string title_of(const Options::Entry& entry) { return entry.help.substr(0, entry.help.find_first_of(".;:")); }

std::string dashes(const Options::Entry& entry, const char* between) {
  const std::string name = "--" + entry.long_name;
  return entry.short_name == 0 ? name : std::string("-") + entry.short_name + between + name;
}

void bash_options(std::ostream& out, const std::string& name, const std::vector<Options::Entry>& entries) {
  out << function_of(name) << "() {\n"
      << "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= files=\n"
      << "  [[ $cur == = ]] && cur=\n"
      << "  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
      << "  case $prev in\n";
  std::string names, others;  // options; those whose values no shell knows
  for (const Options::Entry& entry : entries) {
    names.append(names.empty() ? "--" : " --").append(entry.long_name);
    if (entry.value_name.empty()) continue;
    const Completions values = completions_of(entry);
    if (values.words.empty() && !values.files) {
      others.append(others.empty() ? "" : "|").append(dashes(entry, "|"));
      continue;
    }
    out << "    " << dashes(entry, "|") << ')';
    if (!values.words.empty()) out << " words='" << joined(values.words) << '\'';
    out << (values.files ? " files=yes ;;\n" : " ;;\n");
  }
  if (!others.empty()) out << "    " << others << ") return ;;\n";
  out << "    *) if [[ $cur == -* ]]; then words='" << names << "'; else files=yes; fi ;;\n"
      << "  esac\n"
      << "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"; [[ $files ]] && compgen -f -- \"$cur\")\n"
      << "  COMPREPLY=(\"${COMPREPLY[@]//|/\\\\|}\")\n"
      << "}\n";
}

void zsh_options(std::ostream& out, const std::string& name, const std::vector<Options::Entry>& entries) {
  out << function_of(name) << "() {\n  _arguments -s";
  for (const Options::Entry& entry : entries) {
    out << " \\\n    '" << (entry.repeatable ? "*" : "(" + dashes(entry, " ") + ")") << "'"
        << (entry.short_name == 0 ? "--" + entry.long_name : "{" + dashes(entry, ",") + "}") << "'["
        << escaped(for_quotes(title_of(entry)), "[]:") << "]";
    if (!entry.value_name.empty()) {
      const Completions values = completions_of(entry);
      out << ':' << entry.long_name << ':';
      if (!values.words.empty() && values.files)
        out << "_alternative \"words\\:\\:(" << escaped(joined(values.words), "|") << ")\" \"files\\:\\:_files\"";
      else if (!values.words.empty())
        out << '(' << escaped(joined(values.words), "|") << ')';
      else if (values.files)
        out << "_files";
      else
        out << ' ';
    }
    out << '\'';
  }
  out << " \\\n    '*:file:_files'\n}\n";
}

void fish_options(std::ostream& out, const std::string& name, const std::vector<Options::Entry>& entries) {
  const auto space = name.find(' ');
  const std::string program = name.substr(0, space);
  for (const Options::Entry& entry : entries) {
    out << "complete -c " << program;
    if (space != std::string::npos) out << " -n '__fish_seen_subcommand_from " << name.substr(space + 1) << '\'';
    out << " -l " << entry.long_name;
    if (entry.short_name != 0) out << " -s " << entry.short_name;
    if (!entry.value_name.empty()) {
      const Completions values = completions_of(entry);
      out << (values.files ? " -r" : " -x");
      if (!values.words.empty()) out << " -a '" << escaped(joined(values.words), "|") << '\'';
    }
    out << " -d '" << for_quotes(title_of(entry)) << "'\n";
  }
}

}  // namespace

Completions completions_of(const Options::Entry& entry) {
  if (!entry.words.empty()) return {entry.words};
  Completions found;
  if (entry.value_name.empty()) return found;
  for (std::string& part : alternatives(entry.value_name)) {
    if (part.starts_with("FILE")) found.files = true;
    if (is_word(part)) found.words.push_back(std::move(part));
  }
  return found;
}

void expect_shell(std::string_view shell) {
  if (shell != "bash" && shell != "zsh" && shell != "fish")
    throw Error(Errc::invalid_argument,
                std::string("--completion is '").append(shell).append("': expected bash, zsh or fish"));
}

void Options::print_completion(std::ostream& out, std::string_view shell) const {
  expect_shell(shell);
  const std::string& name = about_.name;
  const bool whole = name.find(' ') == std::string::npos;
  if (shell == "bash") {
    bash_options(out, name, entries_);
    if (whole) out << "complete -o filenames -F " << function_of(name) << ' ' << name << '\n';
  } else if (shell == "zsh") {
    if (whole) out << "#compdef " << name << '\n';
    zsh_options(out, name, entries_);
    if (whole) out << function_of(name) << " \"$@\"\n";
  } else {
    fish_options(out, name, entries_);
  }
}

void print_command_completion(std::ostream& out, std::string_view shell, const std::string& program,
                              const std::vector<std::pair<std::string, std::string>>& commands) {
  expect_shell(shell);
  std::string names;
  for (const auto& [name, summary] : commands) names += name + ' ';
  const std::string function = function_of(program);
  if (shell == "bash") {
    out << function << "() {\n  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W '" << names
        << "--help --version' -- \"${COMP_WORDS[1]}\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
    for (const auto& [name, summary] : commands) out << "    " << name << ") " << function << '_' << name << " ;;\n";
    out << "  esac\n}\ncomplete -o filenames -F " << function << ' ' << program << '\n';
  } else if (shell == "zsh") {
    out << function << "() {\n  if ((CURRENT == 2)); then\n    local -a commands=(";
    for (const auto& [name, summary] : commands) out << "\n      '" << name << ':' << for_quotes(summary) << '\'';
    out << ")\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n  shift words\n"
        << "  ((CURRENT--))\n  case $command in\n";
    for (const auto& [name, summary] : commands) out << "    " << name << ") " << function << '_' << name << " ;;\n";
    out << "  esac\n}\n" << function << " \"$@\"\n";
  } else {
    for (const auto& [name, summary] : commands)
      out << "complete -c " << program << " -n __fish_use_subcommand -f -a " << name << " -d '" << for_quotes(summary)
          << "'\n";
  }
}

namespace {

/// Literal text for roff: escapes backslashes, typed dashes, and requests at the start of a line.
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
  out << ".SH EXIT STATUS\n.TP\n.B 0\nsuccess; of a solver: converged and complete\n.TP\n.B 1\nfailure\n.TP\n.B "
         "2\nwrong usage\n.TP\n.B 3\na solver has not converged or is not complete; the partial result is "
         "written\n.TP\n.B 4\nan input file cannot be used\n.TP\n.B 5\nthe requested device is not available\n";
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
