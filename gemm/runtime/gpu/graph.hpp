// Timing on the device, and sequences of operations that are started as one.
#pragma once

#include <functional>
#include <memory>

#include "tallskinny/gemm/runtime/gpu/stream.hpp"

namespace ts::inline v0::cuda {

/// A point in a stream of work.
class Event {
 public:
  explicit Event(const Stream& stream);
  /// Marks where the stream's work stands now.
  void record(const Stream& stream);
  /// Waits for this point.
  void wait() const;
  /// What is given to `stream`, of the same device, from now on waits for this point.
  void precede(const Stream& stream) const;
  /// Waits for this point, and tells the seconds of device time since `start` was passed.
  [[nodiscard]] double seconds_since(const Event& start) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Operations recorded once and started again and again, without the cost of starting each.
class Graph {
 public:
  /// What `work` gives to the stream. Everything it needs must be there: run it once before, so that kernels
  /// are compiled and the workspace is large enough. @throws Error(device_failure) if it does what cannot be
  /// captured.
  Graph(const Stream& stream, const std::function<void()>& work);
  void launch(const Stream& stream) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ts::inline v0::cuda
