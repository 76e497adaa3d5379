// The one error type of the library: a code, a place and a sentence.
#pragma once

#include <stdexcept>
#include <string>

namespace ts::inline v0 {

/// What kind of thing went wrong: what a program may decide by. The sentence is for people.
enum class Errc {
  invalid_argument,  ///< a size, flag or pointer that the operation does not accept
  bad_input,         ///< a file or its content cannot be used
  io_failure,        ///< reading or writing failed although the request made sense
  out_of_memory,     ///< more memory is needed than there is
  out_of_range,      ///< a result is larger than the largest number of its type
  no_device,         ///< the device asked for does not exist or is not supported by this build
  device_failure,    ///< the device reported an error
  interrupted        ///< the caller's stop request was honoured
};

/// Where in the source something happened. (std::source_location is missing in clang 14.)
struct Place {
  const char* file = "";
  const char* function = "";
  int line = 0;

  static constexpr Place current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                 int line = __builtin_LINE()) noexcept {
    return {file, function, line};
  }
};

/// Thrown for misuse, unusable input and failures of the machine. Numerical outcomes (a Cholesky that
/// breaks down, an iteration that does not converge) are returned values, never errors.
class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& sentence, Place where = Place::current())
      : std::runtime_error(sentence), code_(code), where_(where) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }
  [[nodiscard]] const Place& where() const noexcept { return where_; }

 private:
  Errc code_;
  Place where_;
};

/// Throws Error(invalid_argument, sentence) unless `condition` holds; the sentence names the argument.
inline void expects(bool condition, const char* sentence, Place where = Place::current()) {
  if (!condition) [[unlikely]]
    throw Error(Errc::invalid_argument, sentence, where);
}

}  // namespace ts::inline v0
