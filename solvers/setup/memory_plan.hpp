// Where the memory of a run is, and how much of it: decided beforehand from sizes alone.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"
#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/setup/memory.hpp"

namespace ts::inline v0::solvers {

/// Memory that a run needs.
struct MemoryPlan {
  std::vector<MemoryUse> shares;
  bool spills = false;  ///< what EigenOptions::spills must say

  [[nodiscard]] std::uint64_t bytes_in(Home) const noexcept;
  /// Those in the memory of the device, or of the host; page-locked ones say so.
  [[nodiscard]] std::vector<MemoryUse> uses_of(bool device) const;
  /// In host memory, locked or not.
  [[nodiscard]] std::uint64_t host_bytes() const noexcept;
};

/// Facts of a run that are known before it begins.
struct MemoryNeeds {
  index_t rows = 0;
  std::size_t element_bytes = 8;
  std::uint64_t matrix_bytes = 0;
  Space space = Space::host;       ///< where the operator is at home
  std::uint64_t device_bytes = 0;  ///< that the run may take on a device; 0: as many as it wants
  bool sparse = false;             ///< counts for singular values
  DenseBytes whole = {};           ///< DenseSolver::bytes, where the matrix is decomposed as a whole
};

/// On a device the matrix (its host copy stays: residuals of pencils and checkpoints need it), the blocks
/// and, if it still fits, the basis; otherwise the basis is page-locked in host memory and passes through the
/// device for every product. Whether the rest fits is the caller's to compare.
[[nodiscard]] MemoryPlan plan_memory(const EigenPlan& plan, const MemoryNeeds& needs);

/// Memory plan of solve_general, which keeps the adjoint matrix as well.
[[nodiscard]] MemoryPlan plan_general_memory(const EigenOptions& options, const MemoryNeeds& needs);

/// Memory plan of solve_svd. @param plan of as many rows as the shorter side; needs.rows: of the longer one.
[[nodiscard]] MemoryPlan plan_svd_memory(const EigenPlan& plan, const MemoryNeeds& needs);

}  // namespace ts::inline v0::solvers
