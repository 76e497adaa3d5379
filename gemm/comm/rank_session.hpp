// What a program has of the ranks that it runs on.
#pragma once

#include <chrono>
#include <memory>

#include "tallskinny/gemm/runtime/communicator.hpp"

namespace ts::inline v0 {

/// From the beginning of its ranks to their end, whatever ranks are. All communicators must be gone before it goes.
class RankSession {
 public:
  RankSession() = default;
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;
  virtual ~RankSession() = default;

  /// A communicator of its own for all ranks, which make it together.
  [[nodiscard]] virtual std::shared_ptr<Communicator> world() const = 0;

  /// Comes to where all ranks meet at their end, and sleeps until all are there or the patience ends: then one may be
  /// in a call that it never leaves, because another has failed. Once for each rank.
  [[nodiscard]] virtual bool all_are_here(std::chrono::milliseconds patience) const = 0;
  /// Ends all ranks that are not of this process, for one that is about to end it.
  virtual void abort(int code) const = 0;
};

}  // namespace ts::inline v0
