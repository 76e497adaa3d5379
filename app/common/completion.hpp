// Scripts with which shells complete arguments, from the declarations of the options, and pages for man(1).
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tallskinny/app/common/options.hpp"

namespace ts::app {

/// Arguments that a shell may offer after an option: words, names of files, or both; neither for free text.
struct Completions {
  std::vector<std::string> words;
  bool files = false;
};
/// Completions of an option's value; none for a flag.
Completions completions_of(const Options::Entry& entry);

/// Throws Error(invalid_argument) unless it is bash, zsh or fish.
void expect_shell(std::string_view shell);

/// For a program with commands, whose names and summaries these are: it calls the functions of these, which
/// Options::print_completion has printed before.
void print_command_completion(std::ostream& out, std::string_view shell, const std::string& program,
                              const std::vector<std::pair<std::string, std::string>>& commands);

/// The page of a program whose commands, by name and summary, have pages of their own.
void print_man_commands(std::ostream& out, const About& about,
                        const std::vector<std::pair<std::string, std::string>>& commands);

}  // namespace ts::app
