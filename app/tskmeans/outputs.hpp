// Files that a run leaves: --output, --centers-out, --labels-out.
#pragma once

#include "tallskinny/app/tskmeans/report.hpp"

namespace ts::tskmeans {

/// Rounds centres to a real type, so that files of it hold them as they are.
/// @throws Error(invalid_argument) naming the first one that is beyond its range.
void round_centers(Matrix<double>& centers, DType type);

/// Returns what was written where, one sentence for each file. Ranks call it together; one of them writes.
std::vector<std::string> write_files(const ProgramOptions& options, const Outcome& outcome, const Context& ctx);

}  // namespace ts::tskmeans
