// Standard input as a file that can be read again and again.
#pragma once

#include <string>

#include "tallskinny/app/common/ranks.hpp"

namespace ts::app {

/// Where an input is -, puts what comes from standard input into a file without a name, in the folder for temporary
/// ones, and names it in `input`. What is a file already is not copied. Reading finds out what it is.
class StandardInput {
 public:
  /// @throws Error(invalid_argument) for several ranks, of which one would get it, and for a terminal;
  /// Error(bad_input), Error(io_failure) naming standard input.
  StandardInput(std::string& input, const Ranks& ranks);
  ~StandardInput();
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace ts::app
