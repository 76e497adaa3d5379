// What specialises the kernels around a library's product of rows and centroids, and their arguments.
#pragma once

#include "tallskinny/gemm/runtime/gpu/declare_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

namespace ts::inline v0::cuda {

struct RoundArguments {
  RowsArgument x;
  const double* shift;
  double scale;
  unsigned short* halves;  ///< count x 16 steps
  float* squares;          ///< of each row ||x||^2 and ||x - rounded x||^2
};

/// scorer/kernels/assign_round.cuh, a warp a row
struct RoundPolicy {
  DType type = DType::float64;
  int d = 1;          ///< columns
  int steps = 1;      ///< of 16 columns
  bool wide = false;  ///< x - shift in float64
  int vector = 1;     ///< elements of one load
  int alignment = 8;  ///< of it

  static constexpr int threads = 256, blocks_at_once = 4, most_vector = 8;
  [[nodiscard]] constexpr int shared_bytes() const { return 16 * steps * shift_bytes(wide); }

  TS_POLICY(RoundPolicy, RoundArguments, "solvers/kmeans/pass/scorer/products_policy.hpp", type, d, steps, wide, vector,
            alignment);
};

struct MinimaArguments {
  ScoresArguments all;    ///< of all rows
  const float* products;  ///< of these rows, count x padded
  const float* squares;   ///< as assign_round.cuh leaves them
  index_t first, count;   ///< these rows: the first is a multiple of 32
  int padded;
};

/// scorer/kernels/assign_minima.cuh, a warp for 16 rows
struct MinimaPolicy {
  DType type = DType::float64;
  int d = 1;          ///< columns
  int steps = 1;      ///< of 16 columns
  bool fast = false;  ///< the best score is taken at its word

  static constexpr int threads = 256, warps = 8, blocks_at_once = 4, parts = 1, rows = 16;
  static constexpr bool on_chip = false, wide = false;
  static constexpr int clusters() { return 1; }

  TS_POLICY(MinimaPolicy, MinimaArguments, "solvers/kmeans/pass/scorer/products_policy.hpp", type, d, steps, fast);
};

}  // namespace ts::inline v0::cuda
