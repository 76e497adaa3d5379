// Lets Python's signals and a progress callback into a long call that runs without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <optional>
#include <utility>

namespace ts::python {

namespace nb = nanobind;

class Watch {
 public:
  /// @param callback None, or called with what progress() makes; a true answer asks to stop.
  explicit Watch(nb::object callback) : callback_(std::move(callback)) {}

  /// Looks at signals at most every 50 ms. False: the call is to end, because of an exception or the callback.
  bool go_on() {
    return now_and_then(last_look_, [] {});
  }
  /// Calls the callback, too, as often. @param progress makes its argument, while Python's lock is held.
  template <class MakeProgress>
  bool go_on(MakeProgress&& progress) {
    return now_and_then(last_progress_, [&] {
      if (callback_.is_none()) return;
      const int truth = PyObject_IsTrue(nb::object(callback_(progress())).ptr());
      if (truth < 0) throw nb::python_error();
      ended_ = truth > 0;
    });
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
  using Time = std::chrono::steady_clock::time_point;

  /// Looks at signals, then act(), with Python's lock, unless that was done less than 50 ms after `last`.
  template <class Act>
  bool now_and_then(Time& last, Act&& act) {
    const Time now = std::chrono::steady_clock::now();
    if (ended_) return false;
    if (now - last < std::chrono::milliseconds(50)) return true;
    last = now;
    const nb::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      act();
    } catch (nb::python_error& e) {
      error_.emplace(std::move(e));
      ended_ = true;
    }
    return !ended_;
  }

  nb::object callback_;
  std::optional<nb::python_error> error_;
  Time last_look_{}, last_progress_{};
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
