// Words and numbers of the command line, and what they mean.
#pragma once

#include <string_view>

#include "tallskinny/app/tssolve/settings.hpp"

namespace ts::app::tssolve {

/// A word of --which for Hermitian and for general matrices; where one of them knows it not, it has no value.
struct Word {
  const char* text;
  std::optional<solvers::Which> which;
  std::optional<solvers::GeneralWhich> part;
};
/// In upper or lower case; null: there is none.
[[nodiscard]] const Word* word_named(std::string_view text);

/// "A:B", either side empty for infinity.
bool parse_interval(std::string_view text, std::optional<solvers::Interval>& interval);
/// "1.5", "1.5-2i", "2i"
bool parse_complex(std::string_view text, std::complex<double>& z);

}  // namespace ts::app::tssolve
