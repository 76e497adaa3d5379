// Seeding on a device: its kernels, and greedy k-means++ many candidates at a time. The arguments were checked.
#pragma once

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/per_row.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/seeding/choose.hpp"
#include "tallskinny/solvers/kmeans/seeding/policy.hpp"
#include "tallskinny/solvers/kmeans/seeding/potential.hpp"

namespace ts::inline v0::cuda {

/// The kernels of a batch of draws, in their order.
struct BatchPlans {
  index_t columns;     ///< of rows in float16
  index_t most_draws;  ///< at once
  KernelPlan halves, ahead, tiles, pairs, measure, rounds;
  bool warpgroups;  ///< tiles are filter/kernels/projection_tiles.cuh
};
/// @param warpgroups may serve where the device has them
[[nodiscard]] BatchPlans batch_plans(DType type, index_t rows, index_t d, const DeviceInfo& device,
                                     bool warpgroups = true);

}  // namespace ts::inline v0::cuda

namespace ts::inline v0::assign_device {

void lower_potential(const Context& ctx, const PotentialArguments& of);
std::vector<index_t> keep_rows(const Context& ctx, PerRow<const double> squared, PerRow<const double> weights,
                               double factor, const Philox& random, index_t first_row);
SeedRows choose_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<double> squared,
                     PerRow<const double> weights, const Choosing& how);
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out);
/// Copies rows to host memory, unchanged or, with a shift, as (x - shift) scale.
template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, S* out,
                 std::span<const double> shift = {}, double scale = 1);

/// Choices on a device. Float16 rows and tensor instructions find all pairs of row and candidate that may be closer
/// than the row's present distance, with a bound on all rounding (seeding/kernels/seed_ahead.cuh). These pairs are
/// measured by differences in float64. The host gets only the chosen rows.
class DeviceChoices final : public assign_detail::BatchedChoices {
 public:
  /// @param squared D_i^2 there, lowered. @param weights there, or none. @param warpgroups may serve. All must outlive
  /// this.
  DeviceChoices(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<double> squared,
                PerRow<const double> weights, bool warpgroups = true);

  [[nodiscard]] assign_detail::ChoiceRounds run_rounds(const assign_detail::DrawsAhead& draws) override;
  [[nodiscard]] std::pair<index_t, index_t> best_draws(index_t centers) const noexcept override;
  /// Arguments and results of the last batch, in device memory.
  [[nodiscard]] const cuda::SeedBatchArguments& batch() const noexcept { return batch_; }

 private:
  template <class T>
  [[nodiscard]] T* array(index_t count);

  const Context& ctx_;
  cuda::BatchPlans plans_;
  std::vector<cuda::Memory> memory_;
  cuda::SeedBatchArguments batch_{};
};

}  // namespace ts::inline v0::assign_device
