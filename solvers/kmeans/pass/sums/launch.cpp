#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"

#include <algorithm>
#include <bit>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"

namespace ts::inline v0::assign_device {

namespace {

/// True if the factors of any column and of a row that weighs 1 have a product in float64.
bool factors_multiply(const FixedPoint& unit) {
  const double largest = unit.to_units.empty() ? 0 : *std::max_element(unit.to_units.begin(), unit.to_units.end());
  return largest * (unit.weight_to_units * unit.one) <= 0x1p1000;
}

}  // namespace

cuda::SumsArgument argument_of(const PlacedSums& sums, index_t d, const FixedPoint* unit,
                               const double* weights) noexcept {
  cuda::SumsArgument a;
  a.to_units = sums.to_units, a.shift = sums.shift, a.weights = weights;
  if (sums.words == nullptr) return a;
  const index_t k = sums.clusters;
  a.upper = sums.words, a.lower = a.upper + k * d;
  a.weight_upper = a.lower + k * d, a.weight_lower = a.weight_upper + k;
  a.counts = a.weight_lower + k;
  a.one = unit->one, a.weight_to_units = unit->weight_to_units;
  return a;
}

void add_fetched(const Context& ctx, const void* words, ClusterSums& sums) {
  const auto count = at(sum_words(sums.clusters(), sums.cols()));
  const std::size_t bytes = count * sizeof(std::uint64_t);
  cuda::Staging& staging = ctx.stream.staging();
  staging.begin(ctx.stream, cuda::Staging::rounded(bytes));
  const cuda::Staging::Stretch found = staging.take(bytes);
  cuda::Staging::download(ctx.stream, found, words);
  ctx.stream.synchronize();
  sums.add_words({static_cast<const std::uint64_t*>(found.host), count}, ctx.thread_count());
}

void sort_moves(const Context& ctx, const cuda::SumsSortArguments& a) {
  cuda::fill_bytes(ctx.stream, a.places, 0, at(a.clusters + 1) * sizeof(std::uint32_t));
  const auto sort = [&](bool put) {
    const cuda::KernelPlan plan = cuda::sums_sort_plan(put, a.clusters, a.count, ctx.stream.device());
    cuda::launch_with<cuda::SumsSortPolicy>(ctx, plan, a);
  };
  sort(false);
  launch_threads(ctx, "sums_places", cuda::SumsPlacesPolicy{}, a.clusters,
                 {a.clusters, a.places, a.places + a.clusters}, 32);
  sort(true);
}

void add_moves(const Context& ctx, const Rows& x, PerRow<const std::int32_t> labels, const FixedPoint& unit,
               const cuda::SumsArgument& to, index_t clusters, index_t moves, const MoveOrder& memory) {
  if (moves == 0) return;
  std::uint32_t* const entries = memory.places + clusters;  // how many there are
  const index_t most_entries = to.moves.rows == nullptr ? moves : 2 * moves;
  sort_moves(ctx,
             {static_cast<int>(moves), to.moves, labels.data, static_cast<int>(clusters), memory.places, memory.order});
  const bool weighed = to.weights != nullptr || !factors_multiply(unit);
  cuda::launch_with<cuda::SumsAddPolicy>(
      ctx, cuda::sums_add_plan(cuda::rows_form(x), weighed, most_entries, ctx.stream.device()),
      {argument_of(x), labels.data, memory.order, entries, to});
}

void add_rows(const Context& ctx, const Rows& x, const PlacedSums& sums, PerRow<const std::int32_t> labels,
              PerRow<const double> weights, const FixedPoint& unit) {
  const index_t n = x.rows(), k = sums.clusters;
  Workspace w;
  const std::size_t places = w.reserve<std::uint32_t>(k + 1),
                    order = w.reserve<std::uint32_t>(std::min(n, most_listed_rows));
  w.get(ctx.stream);
  for (index_t i = 0; i < n; i += most_listed_rows) {
    const index_t rows = std::min(most_listed_rows, n - i);
    add_moves(ctx, x.block(i, rows), labels.part(i, rows), unit,
              argument_of(sums, x.cols(), &unit, weights.part(i, rows).data), k, rows,
              {w.at<std::uint32_t>(places), w.at<std::uint32_t>(order)});
  }
}

void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<const std::int32_t> labels,
              PerRow<const double> weights, const FixedPoint& unit, ClusterSums& sums) {
  if (x.rows() == 0) return;
  const index_t words = sum_words(sums.clusters(), x.cols());
  Upload upload(ctx, 2 * x.cols());
  PlacedSums placed;
  placed.clusters = sums.clusters();
  placed.shift = upload.next();
  upload.add(moments.shift);
  placed.to_units = upload.next();
  upload.add(unit.to_units);
  upload.send();
  const cuda::Memory added(ctx.stream, at(words) * 8);
  placed.words = static_cast<cuda::word64*>(added.data());
  cuda::fill_bytes(ctx.stream, placed.words, 0, at(words) * 8);
  add_rows(ctx, x, placed, labels, weights, unit);
  add_fetched(ctx, placed.words, sums);
}

}  // namespace ts::inline v0::assign_device

namespace ts::inline v0::cuda {

namespace {

/// Cost of a row for all lanes, in columns.
index_t cost_of(const SumsAddPolicy& p) {
  constexpr index_t row_cost = 2;  // what a row costs a lane beside its columns
  return index_t{p.slabs()} * p.team() * (p.columns() + row_cost);
}

}  // namespace

KernelPlan sums_sort_plan(bool put, index_t clusters, index_t moves, const DeviceInfo& device) {
  // Enough moves for a block that its counters do not cost more than they do.
  constexpr index_t least_moves = 4096, clusters_a_move = 4, few_clusters = 64;
  const index_t bytes = clusters * SumsSortPolicy::counter_bytes;
  const bool shared = bytes + 1024 <= device.shared_bytes_per_block;
  const index_t stretch = shared ? std::max(least_moves, clusters / clusters_a_move) : least_moves;
  KernelPlan plan = kmeans_plan_of("sums_sort", SumsSortPolicy{put, shared, clusters <= few_clusters});
  plan.grid = grid_of(ceil_div(moves, stretch), 2 * device.multiprocessors);
  plan.block = SumsSortPolicy::threads;
  plan.shared_bytes = at(shared ? bytes : 0);
  plan.budget = {64, 0};
  return plan;
}

KernelPlan sums_add_plan(const RowsForm& p, bool weighed, index_t entries, const DeviceInfo& device) {
  constexpr index_t most_columns = 4;
  const auto size = static_cast<index_t>(size_of(p.type));
  Piece piece{1, static_cast<int>(size)};
  if (p.plain) piece = widest_piece(at(size), {Layout::row_major, false, p.alignment}, p.d);
  piece.count = std::min(piece.count, static_cast<int>(most_columns));
  piece.alignment = std::min(piece.alignment, piece.count * static_cast<int>(size));
  SumsAddPolicy policy{p.type, static_cast<int>(p.d), p.plain, piece.count, piece.alignment};
  for (SumsAddPolicy other = policy; (++other.pieces) * piece.count <= most_columns;)
    if (cost_of(other) < cost_of(policy)) policy = other;
  // Rows that registers hold: with float32, a multiprocessor has 48 KiB under way.
  const index_t fewer = p.plain && !(weighed && p.type == DType::float64) ? 4 : 2;
  constexpr index_t more = 6;
  const bool fours = piece.count == most_columns && !weighed;
  policy.rows = static_cast<int>(fours ? more : fewer), policy.weighed = weighed, policy.ahead = fours && size == 2;
  KernelPlan plan = kmeans_plan_of("sums_add", policy);
  plan.grid =
      grid_of(ceil_div(ceil_div(entries, policy.least_stretch) * policy.slabs() * policy.team(), policy.threads),
              policy.blocks_at_once * device.multiprocessors);
  plan.block = policy.threads;
  plan.budget = {65536 / (policy.threads * policy.blocks_at_once) / 8 * 8, 0};
  return plan;
}

}  // namespace ts::inline v0::cuda
