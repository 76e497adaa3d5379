// Ranks that are threads of one process.
#pragma once

#include <functional>
#include <stdexcept>

#include "tallskinny/gemm/comm/rank_session.hpp"

namespace ts::inline v0 {

/// Thrown by calls that wait for another rank once that has ended: something else went wrong before. No Error, so that
/// nobody takes it for a failure of what he tried.
class RankEnded final : public std::runtime_error {
 public:
  RankEnded() : std::runtime_error("a rank ended while others waited for it") {}
};

/// Calls body(communicator) on `ranks` threads, each with the communicator of its rank, and returns when all have
/// ended; rank 0 is the calling thread. Where one of them ends, the calls that others wait for it in throw RankEnded,
/// and what was thrown first comes out.
/// @throws Error(invalid_argument) unless ranks >= 1, and in a collective call whose sizes are not those of all ranks.
void run_on_threads(int ranks, const std::function<void(const std::shared_ptr<Communicator>&)>& body);

/// The same for bodies that meet at their end. Who comes there has ended for those that wait for it; when all are
/// there, their communicators begin anew.
void run_sessions_on_threads(int ranks, const std::function<void(const std::shared_ptr<RankSession>&)>& body);

}  // namespace ts::inline v0
