// Assign: every row to its nearest centroid, with the centroid sums in the same pass over the rows.
// Rows, their labels and weights lie in one memory; on a device all of this runs there, in ctx.stream, and
// waits for its end. Labels, moments, sums and inertia have the bits that the host would give.
#pragma once

#include "tallskinny/gemm/assign/exact/distances.hpp"
#include "tallskinny/gemm/assign/scores/assign.hpp"
#include "tallskinny/gemm/assign/sums/add_rows.hpp"
