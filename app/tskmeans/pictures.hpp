// --report: the result as a page with pictures.
#pragma once

#include "tallskinny/app/tskmeans/report.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"

namespace ts::tskmeans {

/// Inertia by iteration, sizes, what each cluster is like, two principal components of a sample of the points in the
/// colours of their clusters, and the measures by number of clusters where there were several. Reads the points five
/// times. Ranks call it together; one of them writes. @throws Error(io_failure).
void write_pictures(const ProgramOptions& options, const Outcome& outcome, const Context& ctx,
                    const solvers::RowSource& rows);

}  // namespace ts::tskmeans
