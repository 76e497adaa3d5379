// How long something took.
#pragma once

#include <chrono>

namespace ts::inline v0 {

/// Runs from when it is made.
class Stopwatch {
 public:
  /// Since it was made.
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ts::inline v0
