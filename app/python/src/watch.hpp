// What a long call does with Python while it runs without its lock: signals, and a callback.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <optional>
#include <utility>

namespace ts::python {

namespace nb = nanobind;

class Watch {
 public:
  /// @param callback None, or called with what tell() makes; a true answer asks to stop.
  explicit Watch(nb::object callback) : callback_(std::move(callback)) {}

  /// Looks at signals at most every 50 ms. False: the call is to end, because of an exception or the callback.
  /// @param tell makes the argument of the callback, while Python's lock is held.
  template <class Tell>
  bool go_on(Tell&& tell) {
    const auto now = std::chrono::steady_clock::now();
    if (ended_) return false;
    if (now - last_ < std::chrono::milliseconds(50)) return true;
    last_ = now;
    const nb::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!callback_.is_none()) {
        const int truth = PyObject_IsTrue(nb::object(callback_(tell())).ptr());
        if (truth < 0) throw nb::python_error();
        ended_ = truth > 0;
      }
    } catch (nb::python_error& e) {
      error_.emplace(std::move(e));
      ended_ = true;
    }
    return !ended_;
  }
  /// Keeps the exception that is being handled, which user code raised.
  void keep(nb::python_error&& e) {
    if (!error_) error_.emplace(std::move(e));
    ended_ = true;
  }
  /// Once the call has ended: the exception, KeyboardInterrupt included.
  void rethrow() {
    if (!error_) return;
    nb::python_error error(std::move(*error_));
    error_.reset();
    throw std::move(error);
  }

 private:
  nb::object callback_;
  std::optional<nb::python_error> error_;
  std::chrono::steady_clock::time_point last_{};
  bool ended_ = false;
};

/// run(), without Python's lock; then the exception of the watch, if there is one, before that of run().
template <class Run>
auto watched(Watch& watch, Run&& run) {
  try {
    auto result = [&] {
      const nb::gil_scoped_release released;
      return run();
    }();
    watch.rethrow();
    return result;
  } catch (const std::exception&) {
    watch.rethrow();
    throw;
  }
}

}  // namespace ts::python
