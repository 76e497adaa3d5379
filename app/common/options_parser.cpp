// Arguments, environment and configuration file of a program, split into texts for its options.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(Errc::invalid_argument, sentence); }

/// Sections that a configuration file may have for others.
constexpr std::array<const char*, 4> programs = {"tssolve.", "tskmeans.", "tsdata.", "tsbench."};

/// Texts given for each option by one source, and how that source is called in an error.
struct Given {
  std::vector<std::string> texts;
  std::string called;
};
using Source = std::map<std::string, Given>;

std::vector<std::string> names_of(const std::vector<Options::Entry>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries)
    if (!entry.hidden) names.push_back(entry.long_name);
  return names;
}

/// An option's name as ours are written: "-eps_max_it" becomes "max-it".
std::string as_ours(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string name(word);
  for (char& c : name) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* prefix : {"eps-", "svd-", "st-"})
    if (name.starts_with(prefix)) return name.substr(std::string_view(prefix).size());
  return name;
}

/// The option that `word` most likely meant; empty when nothing is near.
std::string meant_by(const std::string& word, const std::vector<Options::Entry>& entries) {
  for (const auto& entry : entries)
    if (!entry.hidden && (entry.long_name == word ||
                          std::find(entry.elsewhere.begin(), entry.elsewhere.end(), word) != entry.elsewhere.end()))
      return entry.long_name;
  return nearest_name(word, names_of(entries));
}

std::string suggestion(std::string_view word, const std::vector<Options::Entry>& entries, const char* dashes) {
  const std::string near = meant_by(as_ours(word), entries);
  return near.empty() ? std::string{} : std::string("; did you mean ") + dashes + near + "?";
}

/// Null where no entry passes the test.
template <class Test>
const Options::Entry* find_entry(const std::vector<Options::Entry>& entries, const Test& test) {
  const auto found = std::find_if(entries.begin(), entries.end(), test);
  return found == entries.end() ? nullptr : &*found;
}
const Options::Entry* entry_named(const std::vector<Options::Entry>& entries, std::string_view name) {
  return find_entry(entries, [name](const Options::Entry& entry) { return entry.long_name == name; });
}

/// Options of a command line, and its arguments without a dash.
struct CommandLine {
  Source options;
  std::vector<std::string> positionals;
};

CommandLine from_command_line(Arguments arguments, const std::vector<Options::Entry>& entries,
                              const std::string& program) {
  const std::string page = " (see " + program + " --help)";
  CommandLine line;
  const auto add = [&line](const Options::Entry& entry, std::string text) {
    Given& given = line.options[entry.long_name];
    given.called = "--" + entry.long_name, given.texts.push_back(std::move(text));
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--") {
      line.positionals.insert(line.positionals.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                              arguments.end());
      break;
    }
    if (word.size() < 2 || !word.starts_with('-')) {
      line.positionals.emplace_back(word);
      continue;
    }
    const Options::Entry* entry = nullptr;
    std::optional<std::string> value;
    if (word.starts_with("--")) {
      const auto equals = word.find('=');
      entry = entry_named(entries, word.substr(2, equals == std::string_view::npos ? equals : equals - 2));
      if (equals != std::string_view::npos) value = word.substr(equals + 1);
    } else {
      // Letters of flags may stand together; what follows the letter of an option with a value is that value.
      for (std::string_view letters = word.substr(1); !letters.empty() && !value; letters.remove_prefix(1)) {
        entry = find_entry(entries, [&](const Options::Entry& e) { return e.short_name == letters.front(); });
        if (entry == nullptr) break;
        if (letters.size() == 1) break;
        if (entry->value_name.empty())
          add(*entry, "true");
        else
          value = letters.substr(1);
      }
    }
    if (entry == nullptr) {
      const std::string name(word.substr(0, word.find('=')));
      refuse("unknown option " + name + suggestion(name, entries, "--") + page);
    }
    const std::string option = "option --" + entry->long_name;
    if (entry->value_name.empty()) {
      if (value) refuse(option + " takes no value" + page);
      add(*entry, "true");
      continue;
    }
    const bool lacks = value ? value->empty() : i + 1 == arguments.size();
    if (!lacks && !value) value = arguments[++i];
    // A forgotten value must not swallow the next option.
    if (lacks || (value->starts_with("--") && entry_named(entries, value->substr(2)) != nullptr))
      refuse(option + " needs a value" + page);
    add(*entry, *std::move(value));
  }
  return line;
}

std::string environment_name(std::string_view program, std::string_view option) {
  std::string name(program.substr(0, program.find(' ')));
  name += '_';
  name += option;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Source from_environment(const std::vector<Options::Entry>& entries, const std::string& program) {
  Source source;
  for (const auto& entry : entries) {
    const std::string name = environment_name(program, entry.long_name);
    if (const char* const text = entry.hidden ? nullptr : std::getenv(name.c_str()); text != nullptr)
      source[entry.long_name] = {{text}, "environment variable " + name};
  }
  return source;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\f\v";
  const auto first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

Source from_file(const std::string& file, const std::vector<Options::Entry>& entries, const std::string& program) {
  // A named pipe that nobody writes to would be waited for; those of <(...) and standard input have a writer.
  std::error_code failed;
  const auto kind = std::filesystem::status(file, failed).type();
  const bool from_shell = file.starts_with("/dev/fd/") || file == "/dev/stdin" || file.starts_with("/proc/self/fd/");
  if (kind != std::filesystem::file_type::regular && !(kind == std::filesystem::file_type::fifo && from_shell))
    refuse("--config: the file '" + file + "' cannot be read" +
           (std::filesystem::exists(file, failed) ? ": it is not a regular file" : ""));
  std::ifstream in(file);
  if (!in) refuse("--config: the file '" + file + "' cannot be read");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) refuse("--config: reading '" + file + "' failed");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    refuse("--config: the file '" + file + "' is UTF-16 text: save it as UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // byte order mark
  std::istringstream lines(std::move(text));
  Source source;
  const std::string own = program.substr(0, program.find(' ')) + ".";
  std::string section;
  for (std::string read; std::getline(lines, read);) {
    const std::string_view line = trimmed(std::string_view(read).substr(0, read.find('#')));
    if (line.empty()) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      section = std::string(line.substr(1, line.size() - 2)) + ".";
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0)
      refuse(file + ": the options configuration file contains an invalid line '" + std::string(line) + "'");
    std::string name = section + std::string(trimmed(line.substr(0, equals)));
    if (name.starts_with(own)) name.erase(0, own.size());
    if (std::any_of(programs.begin(), programs.end(), [&](const char* p) { return name.starts_with(p); })) continue;
    const Options::Entry* const entry = entry_named(entries, name);
    if (entry == nullptr || entry->hidden || name == "config")
      refuse(file + ": unknown option '" + name + "'" + suggestion(name, entries, ""));
    Given& given = source[name];
    given.called = file + ": " + name;
    given.texts.emplace_back(trimmed(line.substr(equals + 1)));
  }
  return source;
}

void take(Options::Entry& entry, const Given& given) {
  if (given.texts.size() > 1 && !entry.repeatable) refuse(given.called + " is given more than once");
  for (const std::string& text : given.texts)
    if (!entry.assign(text)) refuse(given.called + " is '" + text + "': expected " + entry.what);
  entry.given = true, entry.changed = given.texts.back() != entry.default_text;
}

/// The arguments that would have had the same effect on the command line.
std::string as_arguments(const Options::Entry& entry, const Given& given) {
  std::string words;
  for (const std::string& text : given.texts) {
    if (bool on = true; entry.value_name.empty() && parse_value(text, on) && !on) continue;
    words.append(" --").append(entry.long_name);
    if (!entry.value_name.empty()) words.append(" ").append(shell_word(text));
  }
  return words;
}

}  // namespace

bool Options::parse(Arguments arguments) {
  group("About this program");
  value("config", "FILE", config_file_, "read options from FILE (lines like 'seed = 1')");
  flag("help,h", help_, "show this page");
  flag("version", version_, "show the version and the features of the build");
  value("completion", "bash|zsh|fish", completion_, "print a completion script for this shell");
  entries_.back().words = {"bash", "zsh", "fish"};
  flag("man", man_, "print this page for man: PROGRAM --man | man -l -");
  flag("list-options", list_, "");
  entries_.back().hidden = true;

  const auto [line, positionals] = from_command_line(arguments, entries_, about_.name);
  const bool takes_all = !positionals_.empty() && positionals_.back().repeatable;
  if (!takes_all && positionals.size() > positionals_.size())
    refuse("'" + positionals[positionals_.size()] + "' is one argument too many (see " + about_.name + " --help)");
  if (line.contains("help")) return print_help(std::cout), false;
  if (line.contains("version")) return std::cout << version_text(about_.name) << '\n', false;
  if (line.contains("man")) return print_man(std::cout), false;
  if (const auto at = line.find("completion"); at != line.end())
    return print_completion(std::cout, at->second.texts.front()), false;
  if (line.contains("list-options")) {
    for (const std::string& name : names_of(entries_)) std::cout << "--" << name << '\n';
    return false;
  }

  const Source environment = from_environment(entries_, about_.name);
  Source file;
  for (const Source* source : {&line, &environment})
    if (const auto at = source->find("config"); at != source->end()) {
      if (at->second.texts.size() > 1) refuse("--config is given more than once");
      file = from_file(at->second.texts.front(), entries_, about_.name);
      break;
    }

  command_line_ = about_.name;
  for (const std::string& argument : arguments) command_line_.append(" ").append(shell_word(argument));
  for (Entry& entry : entries_)
    for (const Source* source : {&line, &environment, static_cast<const Source*>(&file)})
      if (const auto at = source->find(entry.long_name); at != source->end()) {
        take(entry, at->second);
        if (source != &line && entry.long_name != "config") command_line_ += as_arguments(entry, at->second);
        break;
      }
  std::size_t taken = 0;
  for (const Positional& wanted : positionals_) {
    if (taken == positionals.size() && wanted.required)
      refuse(wanted.name + " is missing: " + wanted.help + " (see " + about_.name + " --help)");
    for (bool first = true; taken < positionals.size() && (first || wanted.repeatable); first = false)
      if (const std::string& text = positionals[taken++]; !wanted.assign(text))
        refuse(wanted.name + " is '" + text + "': expected " + wanted.what);
  }
  return true;
}

}  // namespace ts::app
