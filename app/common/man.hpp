// Pages for man(1): what those of options (Options::print_man) and of programs with commands share.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "tallskinny/app/common/options.hpp"

namespace ts::app {

/// Title, name and synopsis.
void print_man_head(std::ostream& out, const About& about);
/// Notes, examples, exit status.
void print_man_tail(std::ostream& out, const About& about);
/// The page of a program whose commands, by name and summary, have pages of their own.
void print_man_commands(std::ostream& out, const About& about,
                        const std::vector<std::pair<std::string, std::string>>& commands);

}  // namespace ts::app
