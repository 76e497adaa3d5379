// One pass of k-means over rows: labels (assign.hpp), exact decisions, and sums of clusters. Rows, their labels and
// weights lie in one memory; on a device all of this runs there, in ctx.stream, and waits for its end. Labels, moments,
// sums and inertia have the bits of the host.
#pragma once

#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/distances.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/means.hpp"
