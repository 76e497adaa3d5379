// Pages for man(1) of programs with commands; Options::print_man has those of options.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "tallskinny/app/common/options.hpp"

namespace ts::app {

/// The page of a program whose commands, by name and summary, have pages of their own.
void print_man_commands(std::ostream& out, const About& about,
                        const std::vector<std::pair<std::string, std::string>>& commands);

}  // namespace ts::app
