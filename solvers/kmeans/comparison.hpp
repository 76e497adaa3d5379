// What a quick mode of k-means costs in inertia.
#pragma once

#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::inline v0::solvers {

/// Whether these options find centres sooner than Lloyd's iteration over all `rows` until it converges.
[[nodiscard]] bool is_quick(const KMeansOptions& options, index_t rows) noexcept;

/// Rows that compare_with_exact() copies; 0 for what is not quick.
[[nodiscard]] index_t compared_rows(const KMeansOptions& options, index_t rows) noexcept;

/// The same points clustered twice.
struct KMeansComparison {
  index_t rows = 0, clusters = 0;         ///< 0: interrupted, or there is no quick mode
  double inertia = 0, exact_inertia = 0;  ///< of the quick mode, and of Lloyd's iteration over all these rows
  double seconds = 0;                     ///< that both took

  [[nodiscard]] double ratio() const noexcept { return inertia == exact_inertia ? 1 : inertia / exact_inertia; }
};

/// Clusters a sample by these options and by the exact mode, which is Lloyd's iteration over all its rows until it
/// converges. The sample: an eighth of the rows (2^12 to 2^16) in an eighth of the clusters, so that clusters have as
/// many rows as those of the whole. For two_level, what that costs depends on the number of clusters: all of them (2^12
/// at most) on ten rows for each, and the inertia is that of these rows and as many others. Of up to 2^12 rows all.
/// @throws as kmeans(), but for Error(interrupted).
[[nodiscard]] KMeansComparison compare_with_exact(const Context& ctx, const RowSource& rows,
                                                  const KMeansOptions& options);

}  // namespace ts::inline v0::solvers
