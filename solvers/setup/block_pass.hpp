// One pass over blocks that are read, sent and used at the same time.
#pragma once

#include <functional>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::solvers {

/// Steps for each block; each step runs in the order of the blocks.
struct BlockSteps {
  /// Fills host buffer block % buffers. On a thread of its own, ahead of the others as far as buffers are
  /// free.
  std::function<void(index_t block)> read;
  /// Starts to copy that buffer to place block % 2 of a device; none: blocks are used where they were read.
  std::function<void(index_t block)> send;
  /// Waits until the copy has ended: the buffer is free again.
  std::function<void(index_t block)> arrive;
  /// Runs while the next block is on its way.
  std::function<void(index_t block)> use;
};

/// @throws what a step throws, after the thread has ended.
void pass_over_blocks(index_t blocks, index_t buffers, const BlockSteps& steps);

}  // namespace ts::inline v0::solvers
