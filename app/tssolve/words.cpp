#include "tallskinny/app/tssolve/settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "tallskinny/app/common/options.hpp"

namespace ts::app::tssolve {

using solvers::Convergence;
using solvers::GeneralWhich;
using solvers::Precision;
using solvers::Which;

namespace {

/// Short words first, then those that SLEPc's users know.
constexpr std::array<Word, 13> which_words = {{{"LA", Which::LA, GeneralWhich::LR},
                                               {"SA", Which::SA, GeneralWhich::SR},
                                               {"LM", Which::LM, GeneralWhich::LM},
                                               {"SM", Which::SM, {}},
                                               {"BE", Which::BE, {}},
                                               {"LR", Which::LA, GeneralWhich::LR},
                                               {"SR", Which::SA, GeneralWhich::SR},
                                               {"LI", {}, GeneralWhich::LI},
                                               {"SI", {}, GeneralWhich::SI},
                                               {"LARGEST_REAL", Which::LA, GeneralWhich::LR},
                                               {"SMALLEST_REAL", Which::SA, GeneralWhich::SR},
                                               {"LARGEST_MAGNITUDE", Which::LM, GeneralWhich::LM},
                                               {"SMALLEST_MAGNITUDE", Which::SM, {}}}};

}  // namespace

const Word* word_named(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto* found =
      std::find_if(which_words.begin(), which_words.end(), [&](const Word& word) { return word.text == upper; });
  return found == which_words.end() ? nullptr : found;
}

bool parse_interval(std::string_view text, std::optional<solvers::Interval>& interval) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  constexpr double inf = std::numeric_limits<double>::infinity();
  solvers::Interval parsed{-inf, inf};
  const auto low = text.substr(0, colon), high = text.substr(colon + 1);
  if (!low.empty() && !parse_value(low, parsed.low)) return false;
  if (!high.empty() && !parse_value(high, parsed.high)) return false;
  interval = parsed;
  return parsed.low <= parsed.high;
}

bool parse_complex(std::string_view text, std::complex<double>& z) {
  double real = 0, imaginary = 0;
  if (!text.ends_with('i') && !text.ends_with('j')) {
    if (!parse_value(text, real)) return false;
  } else {
    text.remove_suffix(1);
    std::size_t sign = text.size();  // of the imaginary part; not that of an exponent
    while (sign-- > 0)
      if ((text[sign] == '+' || text[sign] == '-') && (sign == 0 || (text[sign - 1] != 'e' && text[sign - 1] != 'E')))
        break;
    const std::size_t from = sign < text.size() ? sign : 0;
    auto part = text.substr(from);
    if (!part.empty() && part.front() == '+') part.remove_prefix(1);
    if (part.empty() || part == "-")
      imaginary = part.empty() ? 1 : -1;
    else if (!parse_value(part, imaginary))
      return false;
    if (from > 0 && !parse_value(text.substr(0, from), real)) return false;
  }
  z = {real, imaginary};
  return std::isfinite(real) && std::isfinite(imaginary);
}

const char* name_of(Which which) noexcept {
  for (const Word& word : which_words)
    if (word.which == which) return word.text;
  return "?";
}

std::string complex_text(std::complex<double> z) {
  if (z.imag() == 0) return value_text(z.real());
  const auto imaginary = value_text(z.imag());
  return (z.real() == 0 ? "" : value_text(z.real()) + (imaginary.front() == '-' ? "" : "+")) + imaginary + "i";
}

std::string interval_text(const solvers::Interval& interval) {
  const auto end = [](double x) { return std::isinf(x) ? std::string() : value_text(x); };
  return end(interval.low) + ":" + end(interval.high);
}

const char* name_of(GeneralWhich part) noexcept {
  for (auto word = which_words.rbegin(); word != which_words.rend(); ++word)
    if (word->part == part && std::string_view(word->text).size() == 2 && word->text != std::string_view("LA") &&
        word->text != std::string_view("SA"))
      return word->text;
  return "?";
}

const char* name_of(Convergence convergence) noexcept {
  switch (convergence) {
    case Convergence::norm: return "norm";
    case Convergence::rel: return "rel";
    case Convergence::abs: return "abs";
    case Convergence::root:  // within solve_svd alone
      return "root";
  }
  return "?";
}

const char* name_of(Precision precision) noexcept {
  switch (precision) {
    case Precision::float64: return "float64";
    case Precision::float32: return "float32";
    case Precision::mixed: return "mixed";
  }
  return "?";
}

}  // namespace ts::app::tssolve
