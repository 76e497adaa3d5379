// Files that a run leaves: --output, --centers-out, --labels-out, --report.
#pragma once

#include <span>

#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/app/tskmeans/report.hpp"

namespace ts::tskmeans {

/// Rounds centres to a real type, so that files of it hold them as they are.
/// @throws Error(invalid_argument) naming the first one that is beyond its range.
void round_centers(Matrix<double>& centers, DType type);

/// Returns what was written where, one sentence for each file. Ranks call it together; one of them writes.
std::vector<std::string> write_files(const ProgramOptions& options, const Outcome& outcome, const Context& ctx);

/// Inertia by iteration, sizes, what each cluster is like, two principal components of a sample of the points in the
/// colours of their clusters, and the measures by number of clusters where there were several. Reads the points five
/// times. Ranks call it together; one of them writes. @throws Error(io_failure).
void write_pictures(const ProgramOptions& options, const Outcome& outcome, const Context& ctx,
                    const solvers::RowSource& rows);

/// The memory must outlive it.
[[nodiscard]] inline app::OwnRows own_labels(std::span<const std::int32_t> labels) {
  return app::own_rows<std::int32_t>(HostView<const std::int32_t>(labels.data(), std::ssize(labels), 1));
}

/// Writes those of all ranks. @param labels of this one, which are block 0 of `ranks`.
inline void write_labels(io::OutputFile& file, const Context& ctx, const app::RowsOfRanks& ranks,
                         std::span<const std::int32_t> labels) {
  if (ctx.communicator->size() == 1)
    file.write("labels", labels);
  else
    app::write_rows<std::int32_t>(file, "labels", ranks, 0, all_rows(ctx, std::ssize(labels)), -1);
}

}  // namespace ts::tskmeans
