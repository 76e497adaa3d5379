// The state of a run in a file, from which --resume goes on.
#pragma once

#include <span>
#include <string>

#include "tallskinny/app/tskmeans/options.hpp"

namespace ts::tskmeans {

/// What a state belongs to: the options that decide the result, and a sample of the points and weights.
struct RunKey {
  double settings = 0, points = 0;  ///< hashes of 52 bits
};
[[nodiscard]] RunKey key_of(const ProgramOptions& options, index_t k, const solvers::RowSource& rows,
                            std::span<const double> weights);

void write_checkpoint(const std::string& file, const RunKey& key, const solvers::KMeansState& state);
/// @throws Error(bad_input) for a file that is no checkpoint, or one of other points or options.
[[nodiscard]] solvers::KMeansState read_checkpoint(const std::string& file, const RunKey& key);

}  // namespace ts::tskmeans
