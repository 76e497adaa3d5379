// Ranks that are threads of one process.
#pragma once

#include <functional>

#include "tallskinny/gemm/runtime/communicator.hpp"

namespace ts {

/// Calls body(communicator) on `ranks` threads, each with the communicator of its rank, and returns when all have
/// ended. Where one of them throws, the calls that others wait in throw too, and what was thrown first comes out.
/// @throws Error(invalid_argument) unless ranks >= 1, and in a collective call whose sizes are not those of all ranks.
void run_on_threads(int ranks, const std::function<void(const std::shared_ptr<Communicator>&)>& body);

}  // namespace ts
