// What a machine file (data/machines) says, measured by the ranks of a node that work at once.
#pragma once

#include <vector>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/setup/rank_model.hpp"

namespace ts::bench {

/// A call between ranks, measured beside the model of rank_model.hpp.
struct MessageTime {
  const char* call = "";
  std::size_t bytes = 0;
  double seconds = 0, predicted = 0;
};

struct MeasuredMachine {
  solvers::MachineModel model;
  double step_seconds = 0;            ///< of block Lanczos, restarts and small problems included
  double pass_seconds = 0;            ///< of k-means
  std::vector<MessageTime> messages;  ///< none of one rank
};

/// All ranks of ctx call it: each runs block Lanczos on a grid of side^3 and k-means of points x 16 float32 with 64
/// clusters by itself, all at once. Rates are those with which the model takes as long as the slowest: what operations
/// of the project reach, not what the machine could at best. Memory is what is free here.
[[nodiscard]] MeasuredMachine measure_machine(const Context& ctx, index_t side, index_t points);

}  // namespace ts::bench
