// The only file that includes Boost.Program_options.
#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

namespace po = boost::program_options;

namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(Errc::invalid_argument, sentence); }

constexpr const char* surplus_key = "<surplus>";  ///< arguments without a dash that nobody declared

/// Sections that a configuration file may have for others.
constexpr std::array<const char*, 4> programs = {"tssolve.", "tskmeans.", "tsdata.", "tsbench."};

std::string positional_key(std::size_t index) { return std::string("<").append(std::to_string(index)).append(">"); }

/// Texts given for each option by one source, and how that source is called in an error.
struct Given {
  std::vector<std::string> texts;
  std::string called;
};
using Source = std::map<std::string, Given>;

std::vector<std::string> names_of(const std::vector<Options::Entry>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.long_name);
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
    if (entry.long_name == word ||
        std::find(entry.elsewhere.begin(), entry.elsewhere.end(), word) != entry.elsewhere.end())
      return entry.long_name;
  return nearest_name(word, names_of(entries));
}

std::string suggestion(std::string_view word, const std::vector<Options::Entry>& entries, const char* dashes) {
  const std::string near = meant_by(as_ours(word), entries);
  return near.empty() ? std::string{} : std::string("; did you mean ") + dashes + near + "?";
}

Source from_command_line(const std::vector<std::string>& arguments, const po::options_description& known,
                         const std::vector<Options::Entry>& entries,
                         const std::vector<Options::Positional>& positionals, const std::string& program) {
  po::positional_options_description order;
  for (std::size_t i = 0; i < positionals.size(); ++i)
    order.add(positional_key(i).c_str(), positionals[i].repeatable ? -1 : 1);
  if (positionals.empty() || !positionals.back().repeatable) order.add(surplus_key, -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

  Source source;
  try {
    const auto parsed = po::command_line_parser(arguments).options(known).positional(order).style(style).run();
    for (const auto& option : parsed.options) {
      if (option.string_key == surplus_key)
        refuse("'" + option.value.front() + "' is one argument too many (see " + program + " --help)");
      Given& given = source[option.string_key];
      given.called = std::string("--").append(option.string_key);
      // A forgotten value must not swallow the next option.
      if (option.value.size() == 1 && option.value.front().starts_with("--"))
        for (const auto& entry : entries)
          if (option.value.front().substr(2) == entry.long_name)
            refuse("option " + given.called + " needs a value (see " + program + " --help)");
      if (option.value.empty())
        given.texts.emplace_back("true");
      else
        given.texts.insert(given.texts.end(), option.value.begin(), option.value.end());
    }
  } catch (const po::unknown_option& error) {
    // For "-ncv" the error names only the first letter.
    std::string name = error.get_option_name();
    for (const std::string& argument : arguments)
      if (name.size() == 2 && argument.starts_with(name)) name = argument;
    name.erase(std::min(name.find('='), name.size()));
    refuse("unknown option " + name + suggestion(name, entries, "--") + " (see " + program + " --help)");
  } catch (const po::invalid_command_line_syntax& error) {
    const std::string name = error.get_option_name();
    switch (error.kind()) {
      case po::invalid_command_line_syntax::missing_parameter:
      case po::invalid_command_line_syntax::empty_adjacent_parameter:
        refuse("option " + name + " needs a value (see " + program + " --help)");
      case po::invalid_command_line_syntax::extra_parameter:
        refuse("option " + name + " takes no value (see " + program + " --help)");
      default: refuse(std::string(error.what()) + " (see " + program + " --help)");
    }
  } catch (const po::error& error) {
    refuse(std::string(error.what()) + " (see " + program + " --help)");
  }
  return source;
}

std::string environment_name(std::string_view program, std::string_view option) {
  std::string name(program.substr(0, program.find(' ')));
  name += '_';
  name += option;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Source from_environment(const po::options_description& known, const std::vector<Options::Entry>& entries,
                        const std::string& program) {
  std::map<std::string, std::string> wanted;
  for (const auto& entry : entries) wanted[environment_name(program, entry.long_name)] = entry.long_name;
  const auto parsed = po::parse_environment(known, [&wanted](const std::string& name) {
    const auto at = wanted.find(name);
    return at == wanted.end() ? std::string{} : at->second;
  });
  Source source;
  for (const auto& option : parsed.options)
    source[option.string_key] = {option.value, "environment variable " + environment_name(program, option.string_key)};
  return source;
}

Source from_file(const std::string& file, const po::options_description& known,
                 const std::vector<Options::Entry>& entries, const std::string& program) {
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
  const std::string section = program.substr(0, program.find(' ')) + ".";
  try {
    for (const auto& option : po::parse_config_file(lines, known, true).options) {
      std::string name = option.string_key;
      if (name.starts_with(section)) name.erase(0, section.size());
      if (std::any_of(programs.begin(), programs.end(), [&](const char* p) { return name.starts_with(p); })) continue;
      bool found = false;
      for (const auto& entry : entries) found = found || entry.long_name == name;
      if (!found || name == "config")
        refuse(std::string(file)
                   .append(": unknown option '")
                   .append(name)
                   .append("'")
                   .append(suggestion(name, entries, "")));
      Given& given = source[name];
      given.called = std::string(file).append(": ").append(name);
      given.texts.insert(given.texts.end(), option.value.begin(), option.value.end());
    }
  } catch (const po::error& error) {
    refuse(file + ": " + error.what());
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
  if (std::find(arguments.begin(), arguments.end(), "--list-options") != arguments.end()) {
    for (const std::string& name : names_of(entries_)) std::cout << "--" << name << '\n';
    return false;
  }

  po::options_description known;
  for (const Entry& entry : entries_) {
    const std::string names = entry.short_name == 0 ? entry.long_name : entry.long_name + "," + entry.short_name;
    if (entry.value_name.empty())
      known.add_options()(names.c_str(), po::bool_switch());
    else
      known.add_options()(names.c_str(), po::value<std::string>());
  }
  for (std::size_t i = 0; i < positionals_.size(); ++i)
    known.add_options()(positional_key(i).c_str(), po::value<std::vector<std::string>>());
  known.add_options()(surplus_key, po::value<std::vector<std::string>>());

  const Source line =
      from_command_line({arguments.begin(), arguments.end()}, known, entries_, positionals_, about_.name);
  if (line.contains("help")) return print_help(std::cout), false;
  if (line.contains("version")) return std::cout << version_text(about_.name) << '\n', false;
  if (line.contains("man")) return print_man(std::cout), false;
  if (const auto at = line.find("completion"); at != line.end())
    return print_completion(std::cout, at->second.texts.front()), false;
  const Source environment = from_environment(known, entries_, about_.name);
  Source file;
  for (const Source* source : {&line, &environment})
    if (const auto at = source->find("config"); at != source->end()) {
      if (at->second.texts.size() > 1) refuse("--config is given more than once");
      file = from_file(at->second.texts.front(), known, entries_, about_.name);
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
  for (std::size_t i = 0; i < positionals_.size(); ++i) {
    const Positional& wanted = positionals_[i];
    const auto at = line.find(positional_key(i));
    if (at == line.end()) {
      if (wanted.required) refuse(wanted.name + " is missing: " + wanted.help + " (see " + about_.name + " --help)");
      continue;
    }
    for (const std::string& text : at->second.texts)
      if (!wanted.assign(text)) refuse(wanted.name + " is '" + text + "': expected " + wanted.what);
  }
  return true;
}

}  // namespace ts::app
