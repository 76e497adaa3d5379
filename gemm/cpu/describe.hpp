// What the fast path would do with a problem, asked from the very objects that do it.
#pragma once

#include <string_view>

#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::cpu {

struct FastPath {
  std::string_view kernel;
  int lanes = 1;                   ///< of a vector of the type computed in
  int fold = 1;                    ///< rows that share a vector
  int tile_rows = 1;               ///< register tile: numbers spread over vectors, by
  int tile_cols = 1;               ///< numbers lying in them
  index_t spread = 1, across = 1;  ///< the dimensions, in reals, that the tile is to cover
  index_t chunk_rows = 0, chunks = 0;
  int threads = 1;
  bool streams = false;
};

/// For the vector level `simd`, whether or not this processor has it, and up to `threads` threads.
[[nodiscard]] FastPath describe(const Problem& problem, Simd simd, int threads);

}  // namespace ts::inline v0::cpu
