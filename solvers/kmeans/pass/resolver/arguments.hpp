// Arguments of kernels that compute exact distances. Read by the run-time compiler, too.
#pragma once

namespace ts::inline v0::cuda {

struct CentroidsArgument {
  const double *rows,       ///< count x d: c, not multiplied by anything
      *columns;             ///< d x padded: (c shrink) by columns
  const float* half_norms;  ///< of padded centroids; `never` or more for a copy of an earlier one
  int count, padded, cols;
  double shrink, factor;  ///< rows are multiplied by shrink, differences by factor
};

/// The only two centroids that can be the nearest of a row; negative if there may be more: any, or below -1, those that
/// are lists for the tile of rows -2 - first.
struct alignas(8) Pair {
  int first, second;
};

/// Listed centroids of each tile of rows (filter/kernels/projection_lists.cuh): numbers, `stride` apart, in chunks of
/// `each`, which end with `none`. Kernels with scores take centroids and origins one by one then; behind the last those
/// of `none`, which must not be lists. Also the candidates of each undecided row, by its position
/// (CandidatesArgument). A count above `stride` means that the list is missing, and all centroids may be nearest.
struct CandidateLists {
  const int *numbers = nullptr, *counts = nullptr;
  int stride = 0, none = 0;
  int few = 0;  ///< rows that scores leave undecided, fewer than which are decided among these at once
  // Only with bounds of tiles (scorer/kernels/bounds_gaps.cuh): bounds, numbers of rows by position, origin of scores.
  int* bounds = nullptr;
  const float* upper = nullptr;
  float* nearest = nullptr;
  float origin = 0;
  const int* schedule = nullptr;  ///< tiles in the order in which blocks take them; null: as they are
  int each = 128;                 ///< of a chunk
};

/// Counts of a pass.
struct PassCounts {
  unsigned long long changed,  ///< rows with another label
      rescored,                ///< that were scored again
      moved,                   ///< that are listed as moves
      of_two,                  ///< of which scores of all rows leave two centroids
      kept;                    ///< pairs of a row and a centroid that projections leave
};

}  // namespace ts::inline v0::cuda
