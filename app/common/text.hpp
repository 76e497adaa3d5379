// Readable text: wrapped lines, byte counts, durations, dates, names of options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/plan/text.hpp"

namespace ts::app {

/// Lines of at most `width` characters, broken between words; a longer word has a line for itself.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

using ts::human_bytes;
/// "850 us", "1.25 s", "3 min 05 s", "2 h 10 min".
std::string human_seconds(double seconds);
/// 1234567 as "1,234,567".
std::string grouped(std::int64_t number);
/// `value` with `digits` significant digits.
std::string short_number(double value, int digits = 6);

/// A word of a command line, in quotes if a shell would take it for something else.
[[nodiscard]] std::string shell_word(std::string_view word);
/// The time, as "2026-11-28T05:03:17Z".
[[nodiscard]] std::string utc_now();

/// Text for HTML and SVG: characters that have a meaning there as entities, control characters left out.
[[nodiscard]] std::string markup_text(std::string_view text);

/// `max_iterations` (between grave accents) becomes --max-iter, and so on; other words stay.
[[nodiscard]] std::string with_flags(std::string sentence);

}  // namespace ts::app
