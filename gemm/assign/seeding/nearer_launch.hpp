// Greedy k-means++ on a device, many candidates at a time. The arguments were checked.
#pragma once

#include <array>

#include "tallskinny/gemm/assign/seeding/nearer_rows.hpp"
#include "tallskinny/gemm/assign/seeding/plan.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0::assign_device {

/// Rows in float16 and tensor instructions find all pairs of row and candidate that may be closer than what is kept
/// for the row, with a bound on all that is lost (seeding/kernels/seed_limits.cuh). These pairs are measured by
/// differences in float32.
class DeviceNearerRowSearch final : public assign_detail::NearerRowSearch<float> {
 public:
  /// @param rows count x ld on the device in the coordinates of distances, filled up with zeros, of d columns, and
  /// their weights there, or null: they must outlive the search.
  DeviceNearerRowSearch(const Context& ctx, cuda::NearerPlans plans, const float* rows, index_t count, index_t ld,
                        index_t d, const double* weights);

  void begin(std::span<const index_t> candidates, std::span<const float> squared) override;
  [[nodiscard]] std::optional<assign_detail::NearerRows<float>> end() override;
  [[nodiscard]] int depth() const noexcept override { return 2; }
  [[nodiscard]] index_t most_candidates(index_t centers) const noexcept override;

 private:
  /// Of one of two searches, what others may not write over.
  struct Slot {
    cuda::Memory found, pairs;
    index_t candidates = 0;
  };
  struct Host;
  [[nodiscard]] index_t most_pairs() const noexcept { return 64 * count_; }

  const Context& ctx_;
  cuda::NearerPlans plans_;
  const float* rows_;
  index_t count_, ld_, d_;
  const double* weights_;
  cuda::Memory heads_, norms_, largest_, limits_, squared_;  ///< of rows
  cuda::Memory numbers_, chunks_, signs_;                    ///< of a batch
  std::array<Slot, 2> slots_;
  int next_ = 0;  ///< slot
  int oldest_ = 0;
  Host& host_;
};

}  // namespace ts::inline v0::assign_device
