#include "tallskinny/solvers/kmeans/seeding/launch.hpp"

#include <algorithm>

#include "tallskinny/gemm/runtime/gpu/staging.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0::assign_device {

using assign_detail::ChoiceRounds;
using assign_detail::DrawsAhead;
using cuda::projection_chunk;

template <class T>
T* DeviceChoices::array(index_t count) {
  return as<T>(memory_.emplace_back(assign_device::array<T>(ctx_, count)));
}

DeviceChoices::DeviceChoices(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<double> squared,
                             PerRow<const double> weights, bool warpgroups)
    : ctx_(ctx), plans_(cuda::batch_plans(x.type(), x.rows(), x.cols(), ctx.stream.device(), warpgroups)) {
  const index_t n = x.rows(), d = x.cols(), columns = plans_.columns, most = plans_.most_draws;
  // Storage for 64 pairs of a row, or for the draws of one choice.
  constexpr index_t of_row = 64, most_pairs = index_t{1} << 25;
  cuda::SeedBatchArguments& a = batch_;
  a.x = argument_of(x), a.d = static_cast<int>(d), a.columns = static_cast<int>(columns),
  a.scale = assign_detail::scoring_scale(HostView<const double>(nullptr, 0, d), moments);
  a.squared = squared.data, a.weights = weights.data;
  a.halves = array<std::uint16_t>(n * columns), a.norms = array<cuda::SeedNorms>(n);
  a.limits = array<std::uint16_t>(n * cuda::limit_columns), a.through = array<long long>(n),
  a.marks = array<unsigned>(n);
  a.sums = array<long long>(2 * index_t{cuda::SeedBatchPolicy::most_blocks});
  a.numbers = array<index_t>(most), a.least = array<double>(most), a.stretches = array<cuda::SeedStretch>(most);
  a.chunks = array<std::uint16_t>(most * (columns + cuda::limit_columns)), a.signs = array<unsigned>(n * most / 32);
  a.most_pairs = std::min(std::max(std::min(of_row * n, most_pairs), most_trials * n), index_t{INT32_MAX});
  a.pairs = array<cuda::SeedPair>(a.most_pairs);
  a.total = array<cuda::word64>(1), a.largest = array<unsigned>(2), a.arrivals = a.largest + 1;
  double* const shift = array<double>(d);
  a.shift = shift;
  cuda::copy_bytes(ctx.stream, shift, moments.shift.data(), moments.shift.size() * sizeof(double));
  cuda::fill_bytes(ctx.stream, a.largest, 0, sizeof *a.largest);
  cuda::launch_with<cuda::SeedBatchPolicy>(ctx, plans_.halves, a);
}

std::pair<index_t, index_t> DeviceChoices::best_draws(index_t centers) const noexcept {
  // Each candidate is nearer to about one in as many rows as there are centres.
  constexpr index_t least = 64, for_each_center = 8;
  return {least, std::clamp(for_each_center * centers, index_t{projection_chunk}, plans_.most_draws)};
}

ChoiceRounds DeviceChoices::run_rounds(const DrawsAhead& draws) {
  using Policy = cuda::SeedBatchPolicy;
  cuda::SeedBatchArguments& a = batch_;
  const index_t chunks = cuda::ceil_div(draws.count, index_t{projection_chunk});
  a.draws = static_cast<int>(draws.count), a.padded = static_cast<int>(chunks * projection_chunk);
  a.stream = draws.random.stream, a.key = draws.random.key, a.first_number = draws.first_number;
  a.trials = static_cast<int>(draws.trials), a.most = static_cast<int>(draws.most), a.enough = draws.enough;
  const std::size_t bytes = sizeof(cuda::SeedOutcome) + at(draws.count) * sizeof(index_t);
  cuda::Staging& staging = ctx_.stream.staging();
  staging.begin(ctx_.stream, cuda::Staging::rounded(bytes));
  const cuda::Staging::Stretch left = staging.take(bytes);
  a.outcome = static_cast<cuda::SeedOutcome*>(left.device), a.seeds = reinterpret_cast<index_t*>(a.outcome + 1);
  cuda::fill_bytes(ctx_.stream, a.arrivals, 0, sizeof *a.arrivals);
  cuda::launch_with<Policy>(ctx_, plans_.ahead, a);
  if (plans_.warpgroups)
    cuda::launch_with<cuda::ProjectionTilesPolicy>(
        ctx_, plans_.tiles, {a.halves, a.limits, a.chunks, nullptr, a.x.count, static_cast<int>(chunks), a.signs});
  else
    cuda::launch_with<Policy>(ctx_, plans_.tiles, a);
  plans_.pairs.grid = static_cast<unsigned>(a.padded / 32);
  cuda::launch_with<Policy>(ctx_, plans_.pairs, a);
  cuda::launch_with<Policy>(ctx_, plans_.measure, a);
  plans_.rounds.shared_bytes = at(draws.count * Policy::bytes_of_draw);
  cuda::launch_with<Policy>(ctx_, plans_.rounds, a);
  cuda::Staging::download(ctx_.stream, left);
  ctx_.stream.synchronize();
  const auto& after = *static_cast<const cuda::SeedOutcome*>(left.host);
  const auto* const seeds = reinterpret_cast<const index_t*>(&after + 1);
  return {after.choices >= 0,
          {seeds, seeds + std::max(after.choices, 0)},
          static_cast<double>(after.before) / after.unit,
          static_cast<double>(after.left) / after.unit};
}

SeedRows choose_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<double> squared,
                     PerRow<const double> weights, const Choosing& how) {
  if (x.rows() == 0 || x.cols() == 0 || how.most == 0) return {};
  DeviceChoices choices(ctx, x, moments, squared, weights);
  return assign_detail::choose_rows(choices, how);
}

}  // namespace ts::inline v0::assign_device

namespace ts::inline v0::cuda {

BatchPlans batch_plans(DType type, index_t rows, index_t d, const DeviceInfo& device, bool warpgroups) {
  using Policy = SeedBatchPolicy;
  const Policy policy{type};
  index_t steps = ceil_div(d, 16) + 1;
  while (steps % 3 != 0 && steps % 4 != 0) ++steps;  // as projection_tiles_plan() wants them
  BatchPlans plans{};
  plans.columns = 16 * (steps - 1);
  plans.halves = warps_plan("seed_halves", policy, rows, device, 64);
  plans.ahead = threads_plan("seed_ahead", policy, rows);
  plans.ahead.grid =
      std::min(plans.ahead.grid, static_cast<unsigned>(std::min(device.multiprocessors, Policy::most_blocks)));
  plans.ahead.meets = true, plans.ahead.budget = {128, Policy::ahead_bytes};
  plans.pairs = threads_plan("seed_pairs", policy, 1);
  plans.pairs.budget = {64, Policy::pairs_bytes};
  plans.measure = warps_plan("seed_measure", policy, rows, device, 64);
  plans.rounds = threads_plan("seed_rounds", policy, 1);
  plans.rounds.budget = {128, Policy::rounds_bytes};
  // Signs of as many draws take 256 MiB, and what is known of a draw lies in shared memory.
  constexpr index_t most = 8192, most_signs = index_t{1} << 31;
  const index_t in_shared = (device.shared_bytes_per_block - Policy::rounds_bytes) / Policy::bytes_of_draw;
  plans.most_draws =
      std::max<index_t>(1, std::min({most, most_signs / rows, in_shared}) / projection_chunk) * projection_chunk;
  if (warpgroups && device.features().warpgroups) {
    plans.tiles = projection_tiles_plan(rows, {plans.columns, ProjectionNumbers::float16}, true, device);
    plans.warpgroups = policy_of<ProjectionTilesPolicy>(plans.tiles).groups > 0;
  }
  if (plans.warpgroups) return plans;
  plans.tiles = threads_plan("seed_tiles", policy, 1);
  plans.tiles.grid = grid_of(ceil_div(rows, Policy::tile_rows), device.multiprocessors);
  plans.tiles.block = Policy::tile_threads, plans.tiles.budget = {255, Policy::tile_bytes};
  return plans;
}

}  // namespace ts::inline v0::cuda
