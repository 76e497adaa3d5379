// Where the memory of a run is, and how much of it: decided beforehand from sizes alone.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/solvers/eigen/values/options.hpp"

namespace ts::solvers {

/// `locked`: host memory that a device reads and writes by itself.
enum class Home { host, locked, device };

[[nodiscard]] std::string_view name_of(Home) noexcept;

struct MemoryShare {
  std::string what;
  Home home = Home::host;
  std::uint64_t bytes = 0;
};

struct MemoryPlan {
  std::vector<MemoryShare> shares;
  bool spills = false;  ///< what EigenOptions::spills must say

  [[nodiscard]] std::uint64_t bytes_in(Home) const noexcept;
  /// In host memory, locked or not.
  [[nodiscard]] std::uint64_t host_bytes() const noexcept;
};

/// What is known of a run before it begins.
struct MemoryNeeds {
  index_t rows = 0;
  std::size_t element_bytes = 8;
  std::uint64_t matrix_bytes = 0;
  Space space = Space::host;       ///< where the operator is at home
  std::uint64_t device_bytes = 0;  ///< that the run may take on a device; 0: as many as it wants
};

/// On a device the matrix (its host copy stays: residuals of pencils and checkpoints need it), the blocks
/// and, if it still fits, the basis; otherwise the basis is page-locked in host memory and passes through the
/// device for every product. Whether the rest fits is the caller's to compare.
[[nodiscard]] MemoryPlan plan_memory(const EigenPlan& plan, const MemoryNeeds& needs);

}  // namespace ts::solvers
