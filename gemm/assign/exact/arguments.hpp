// What kernels are told of centroids for exact distances. Read by the run-time compiler, too.
#pragma once

namespace ts::cuda {

struct CentroidsArgument {
  const double *rows,       ///< count x d: c, not multiplied by anything
      *columns;             ///< d x padded: (c shrink) by columns
  const float* half_norms;  ///< of padded centroids; `never` or more for a copy of an earlier one
  int count, padded, cols;
  double shrink, factor;  ///< rows are multiplied by shrink, differences by factor
};

/// The only two centroids that can be the nearest of a row; negative if there may be more.
struct alignas(8) Pair {
  int first, second;
};

/// What a pass counts.
struct PassCounts {
  unsigned long long changed,  ///< rows with another label
      rescored,                ///< that were scored again
      moved,                   ///< that are listed as moves
      of_two,                  ///< of which scores of all rows leave two centroids
      copies;                  ///< centroids that are copies of earlier ones
};

}  // namespace ts::cuda
