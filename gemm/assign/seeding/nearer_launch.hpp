// Greedy k-means++ on a device, many candidates at a time. The arguments were checked.
#pragma once

#include "tallskinny/gemm/assign/rows/per_row.hpp"
#include "tallskinny/gemm/assign/seeding/choose.hpp"
#include "tallskinny/gemm/assign/seeding/plan.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0::assign_device {

/// Rows in float16 and tensor instructions find all pairs of row and candidate that may be closer than what is kept
/// for the row, with a bound on all that is lost (seeding/kernels/seed_limits.cuh). These pairs are measured by
/// differences in float32. All that the host gets are the rows that were chosen.
class DeviceChoices final : public assign_detail::BatchedChoices {
 public:
  /// @param rows as many as `squared` x ld on the device in the coordinates of distances, filled up with zeros, of d
  /// columns. @param squared D_i^2 there, lowered. @param weights there, or none. All must outlive this.
  DeviceChoices(const Context& ctx, cuda::NearerPlans plans, const float* rows, index_t ld, index_t d,
                PerRow<float> squared, PerRow<const double> weights);

  [[nodiscard]] assign_detail::Turns take_turns(const assign_detail::DrawsAhead& draws) override;
  [[nodiscard]] index_t most_draws(index_t centers) const noexcept override;

  /// Where lies what find() found for the candidates whose numbers are in numbers().
  struct Found {
    const cuda::word64* total;  ///< pairs; more than most_pairs(): they are not there
    const cuda::SeedStretch* stretches;
    const cuda::SeedPair* pairs;
  };
  [[nodiscard]] Found find(index_t candidates);
  [[nodiscard]] index_t* numbers() const noexcept { return static_cast<index_t*>(numbers_.data()); }
  [[nodiscard]] index_t most_pairs() const noexcept { return std::min(64 * count_, index_t{INT32_MAX}); }

 private:
  const Context& ctx_;
  cuda::NearerPlans plans_;
  const float* rows_;
  index_t count_, ld_, d_;
  float* squared_;
  const double* weights_;
  index_t most_;                                                       ///< candidates, in whole chunks
  cuda::Memory heads_, norms_, limits_, through_, marks_;              ///< of rows
  cuda::Memory numbers_, least_, chunks_, signs_, stretches_, pairs_;  ///< of a batch
  cuda::Memory counters_, sums_;                                       ///< counters: of the next three kinds
  unsigned *largest_, *arrivals_;
  cuda::word64* total_;
};

}  // namespace ts::inline v0::assign_device
