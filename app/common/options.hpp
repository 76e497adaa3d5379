// A program's options as data: every option is bound to a variable of the program, and the command line, the
// environment, a configuration file, the help page and the list for shell completion follow from that.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::app {

using Arguments = std::span<const std::string>;

/// Text to value, whole or not at all. Integers may be written 1e6; NaN is never accepted.
bool parse_value(std::string_view text, std::string& out);
bool parse_value(std::string_view text, int& out);
bool parse_value(std::string_view text, std::int64_t& out);
bool parse_value(std::string_view text, std::uint64_t& out);
bool parse_value(std::string_view text, double& out);
/// true/false, yes/no, on/off, 1/0: how flags are written in the environment and in configuration files.
bool parse_value(std::string_view text, bool& out);

/// The shortest text that parse_value reads as `value`.
std::string value_text(const std::string& value);
std::string value_text(int value);
std::string value_text(std::int64_t value);
std::string value_text(std::uint64_t value);
std::string value_text(double value);

/// Values that an option accepts beyond its type. `what` completes "expected ...".
template <class T>
struct Accept {
  std::string what;
  std::function<bool(const T&)> test;
};

template <class T>
Accept<T> at_least(T low) {
  const std::string kind = std::is_floating_point_v<T> ? "a number" : "an integer";
  return {kind + " of at least " + value_text(low), [low](const T& x) { return x >= low; }};
}
template <class T>
Accept<T> between(T low, T high) {
  const std::string kind = std::is_floating_point_v<T> ? "a number" : "an integer";
  return {kind + " from " + value_text(low) + " to " + value_text(high),
          [low, high](const T& x) { return x >= low && x <= high; }};
}

/// Text of the help page before and after the options.
struct About {
  std::string name;     ///< "tssolve", or "tsdata gen"; its first word gives the environment's prefix
  std::string summary;  ///< one line
  std::string usage;    ///< what follows the name: "MATRIX [options]"
  struct Example {
    std::string comment, command;
  };
  std::vector<Example> examples;
  std::string notes;  ///< paragraphs below the options, wrapped unless they start with a space; may be empty
};

/// Fills the bound variables. An option's value comes from the command line; failing that from the
/// environment (TSSOLVE_BLOCK_SIZE for --block-size of tssolve); failing that from the file named by
/// --config (lines `block-size = 4`, optionally below `[tssolve]`); failing all it keeps its initial value,
/// which the help page shows as the default. Names are never guessed from prefixes.
class Options {
 public:
  explicit Options(About about);

  /// Options declared after this appear below `title` on the help page.
  Options& group(std::string title);

  /// `names` is "long" or "long,s" with a one-letter short name.
  Options& flag(std::string_view names, bool& target, std::string help);
  template <class T>
  Options& value(std::string_view names, const std::string& value_name, T& target, const std::string& help,
                 const Accept<T>& accept = {}) {
    return custom(names, value_name, value_text(target), help, expected<T>(accept.what),
                  [&target, accept](std::string_view text) { return assign(text, target, accept); });
  }
  /// An option without a default: stays empty unless given.
  template <class T>
  Options& value(std::string_view names, const std::string& value_name, std::optional<T>& target,
                 const std::string& help, const Accept<T>& accept = {}) {
    return custom(names, value_name, {}, help, expected<T>(accept.what), [&target, accept](std::string_view text) {
      T parsed{};
      if (!assign(text, parsed, accept)) return false;
      target = std::move(parsed);
      return true;
    });
  }
  /// May be given several times.
  Options& values(std::string_view names, std::string value_name, std::vector<std::string>& target, std::string help);
  /// One word of a list.
  template <class E>
  Options& choice(std::string_view names, E& target, const std::string& help,
                  std::vector<std::pair<std::string, E>> words) {
    std::string listed, initial;
    for (const auto& [word, meaning] : words) {
      listed.append(listed.empty() ? "" : "|").append(word);
      if (meaning == target && initial.empty()) initial = word;
    }
    std::vector<std::string> texts;
    texts.reserve(words.size());
    for (const auto& [word, meaning] : words) texts.push_back(word);
    custom(names, listed, initial, help, "one of " + listed,
           [&target, words = std::move(words)](std::string_view text) {
             for (const auto& [word, meaning] : words)
               if (word == text) return target = meaning, true;
             return false;
           });
    entries_.back().words = std::move(texts);
    return *this;
  }
  /// Anything else. `assign` answers whether it accepts the text; `what` completes "expected ...".
  Options& custom(std::string_view names, std::string value_name, std::string default_text, std::string help,
                  std::string what, std::function<bool(std::string_view)> assign);

  /// A name of a file.
  Options& file(std::string_view names, std::string value_name, std::string& target, std::string help,
                std::string what = "a file name");

  /// Names that other programs have for the last option; an error for one of them names ours. In lower case, with
  /// dashes, and without the prefixes of SLEPc (eps_, svd_, st_).
  Options& known_as(std::vector<std::string> names);

  /// The next argument without a dash.
  template <class T>
  Options& positional(const std::string& name, T& target, const std::string& help, bool required = true) {
    return add_positional(name, help, required, expected<T>({}),
                          [&target](std::string_view text) { return parse_value(text, target); });
  }
  /// All remaining arguments without a dash; must be declared last.
  Options& rest(std::string name, std::vector<std::string>& target, std::string help, bool required);

  /// Reads the arguments that follow the program's name. False when --help, --version, --man, --completion SHELL or
  /// --list-options has been answered on standard output: the program is done.
  /// @throws Error(invalid_argument) with a message that names the option and what it accepts.
  [[nodiscard]] bool parse(Arguments arguments);

  /// True if `long_name` got its value from the command line, the environment or the configuration file.
  [[nodiscard]] bool given(std::string_view long_name) const;
  /// True if `long_name` was given another value than its default.
  [[nodiscard]] bool changed(std::string_view long_name) const;

  /// The program and its arguments for a shell, after parse(). Includes options from the environment or a configuration
  /// file.
  [[nodiscard]] const std::string& command_line() const noexcept { return command_line_; }

  void print_help(std::ostream& out) const;
  /// A page for man, of section 1.
  void print_man(std::ostream& out) const;
  /// Prints the completion script for a shell: a function _NAME (fish: lines with a condition) for a program, or for
  /// one command of a program ("tsdata gen"). Programs register themselves.
  void print_completion(std::ostream& out, std::string_view shell) const;

  struct Entry {
    std::string long_name;
    char short_name = 0;
    std::string value_name;  ///< empty: a flag
    std::string default_text, help, what, group;
    std::vector<std::string> words;      ///< of a choice
    std::vector<std::string> elsewhere;  ///< names that other programs have for it
    bool repeatable = false, given = false, changed = false;
    std::function<bool(std::string_view)> assign;
  };
  struct Positional {
    std::string name, help, what;
    bool required = true, repeatable = false;
    std::function<bool(std::string_view)> assign;
  };

 private:
  template <class T>
  static std::string expected(const std::string& what) {
    if (!what.empty()) return what;
    if constexpr (std::is_same_v<T, std::string>) return "a text";
    if constexpr (std::is_floating_point_v<T>) return "a number";
    if constexpr (std::is_unsigned_v<T>) return "a non-negative integer";
    return "an integer";
  }
  template <class T>
  static bool assign(std::string_view text, T& target, const Accept<T>& accept) {
    T parsed{};
    if (!parse_value(text, parsed) || (accept.test && !accept.test(parsed))) return false;
    target = std::move(parsed);
    return true;
  }
  Options& add_positional(std::string name, std::string help, bool required, std::string what,
                          std::function<bool(std::string_view)> assign);

  About about_;
  std::string group_ = "Options";
  std::vector<Entry> entries_;
  std::vector<Positional> positionals_;
  std::string config_file_, completion_, command_line_;
  bool help_ = false, version_ = false, man_ = false;
};

/// The one of `names` that `word` most likely meant; empty when nothing is near.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

/// "tssolve (tallskinny) 0.2.0" and what the build contains.
std::string version_text(std::string_view program);
/// "0.2.0"
std::string release();

}  // namespace ts::app
