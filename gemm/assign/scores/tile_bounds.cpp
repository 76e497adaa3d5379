#include "tallskinny/gemm/assign/scores/tile_bounds.hpp"

#include <algorithm>

namespace ts::inline v0::assign_device {

namespace {

/// Tiles of a probe, as many as multiprocessors score at once: so many that lie together in so many places.
constexpr index_t probed_places = 8, tiles_together = 16;

}  // namespace

TileBounds::TileBounds(const Rows& x, index_t k, const BoundsTrials& trials)
    : x_(x), n_(x.rows()), d_(x.cols()), k_(k), padded_(padded_to_chunks(k)), trials_(trials) {}

std::uint64_t TileBounds::bytes(index_t n, index_t d, index_t k) noexcept {
  const index_t of_rows = 2 * 4 + 4 + 8 + padded_to_chunks(k) * 8 / cuda::group_rows;
  return static_cast<std::uint64_t>(n * of_rows + k * (8 * d + 2 * row_columns(d) + 64));
}

BoundsTrials::Turn TileBounds::next(const Rows& x, double scale, index_t changed) noexcept {
  if (x.values() != x_.values() || x.rows() != n_) return BoundsTrials::Turn::without;
  if (scale != scale_) forget();
  scale_ = scale;
  return trials_.next(static_cast<double>(changed) / static_cast<double>(n_));
}

void TileBounds::passed(index_t kept) noexcept {
  if (!trials_.known()) return trials_.made();
  trials_.used(share_of(kept, n_));
  // A tile of rows that meets all centroids, in three products, takes as long as about 70 k / L rows that are decided
  // among L centroids (H100).
  const index_t met = std::max<index_t>(1, kept / n_);
  few_ = trials_.known() && kept > 0 ? static_cast<int>(48 * k_ / met) : 0;
}

/// Memory for so many rows: a probe needs little.
void TileBounds::make_room(const Context& ctx, const ChoosingPass& pass, index_t rows) {
  const index_t tile = cuda::tile_rows(pass.chosen);
  if (tile != tile_) room_ = 0;
  if (tile_ == 0) {
    before_ = DeviceMatrix<double>(ctx.stream, k_, d_);
    moves_ = array<float>(ctx, k_), kept_ = array<cuda::word64>(ctx, 1);
    places_ = array<std::uint32_t>(ctx, k_ + 1), order_ = array<std::uint32_t>(ctx, n_);
    by_rows_ = array<std::uint16_t>(ctx, (k_ + 1) * row_columns(d_)), origins_ = array<float>(ctx, k_ + 1);
    chunks_ = array<std::uint8_t>(ctx, padded_ * 2 * cuda::limit_columns);
  }
  tile_ = tile;
  if (rows <= room_) return;
  room_ = rows;
  const index_t tiles = cuda::ceil_div(rows, tile);
  bounds_ = array<int>(ctx, tiles * padded_), numbers_ = array<int>(ctx, tiles * padded_);
  counts_ = array<int>(ctx, tiles), turns_ = array<int>(ctx, tiles);
  nearest_ = array<float>(ctx, rows), upper_ = array<float>(ctx, rows), list_ = array<index_t>(ctx, rows + 1);
  forget();
}

void TileBounds::order_rows(const Context& ctx, const ChoosingPass& pass) {
  order_by_labels(ctx, pass.labels, n_, k_, as<std::uint32_t>(places_), as<std::uint32_t>(order_));
}

TileBounds::Ordered TileBounds::some_tiles(const Context& ctx) {
  const index_t together = tiles_together * tile_, places = n_ < probed_places * together ? 1 : probed_places;
  const index_t rows = std::min(together, n_), apart = n_ / places / tile_ * tile_;
  if (some_rows_ != places * rows) some_ = array<std::uint32_t>(ctx, places * rows);
  some_rows_ = places * rows;
  auto* const some = as<std::uint32_t>(some_);
  for (index_t place = 0; place < places; ++place)
    cuda::copy_bytes(ctx.stream, some + place * rows, as<std::uint32_t>(order_) + place * apart,
                     static_cast<std::size_t>(rows) * sizeof(std::uint32_t));
  return {some_rows_, some};
}

/// Of rows their distances to own centroids.
void TileBounds::measure(const Context& ctx, const ChoosingPass& pass, const Ordered& rows) {
  cuda::RowsArgument x = argument_of(x_);
  x.count = rows.rows;
  cuda::launch_with<cuda::BoundsUppersPolicy>(
      ctx, cuda::bounds_uppers_plan(x_.type(), rows.rows, ctx.stream.device()),
      {x, rows.order, pass.labels.data, pass.centroids, pass.scale, static_cast<int>(d_), as<float>(nearest_)});
}

void TileBounds::place_centroids(const Context& ctx, const ChoosingPass& pass) {
  cuda::launch_with<cuda::HeadsCentroidsPolicy>(
      ctx, cuda::heads_centroids_plan(HeadNumbers::float16, k_),
      {pass.centroids, nullptr, pass.shift, nullptr, pass.half_norms, pass.origins, pass.scale, 1, 0,
       static_cast<int>(k_), static_cast<int>(d_), 0, static_cast<int>(pass.plans.steps), static_cast<int>(padded_),
       pass.beyond, by_rows_.data(), as<float>(origins_), chunks_.data()});
}

void TileBounds::move(const Context& ctx, const ChoosingPass& pass, bool first) {
  cuda::launch_with<cuda::BoundsMovesPolicy>(ctx, cuda::bounds_moves_plan(k_),
                                             {pass.centroids, before_.data(), pass.half_norms, pass.scale,
                                              static_cast<int>(k_), static_cast<int>(d_), first, as<float>(moves_)});
}

void TileBounds::list(const Context& ctx, const ChoosingPass& pass, const Ordered& rows, bool first,
                      const cuda::ChosenArgument& given, cuda::word64* kept) {
  auto* const list = as<index_t>(list_);
  cuda::BoundsListsArguments a{};
  a.order = rows.order, a.labels = pass.labels.data, a.moves = as<float>(moves_), a.rows = rows.rows;
  a.tile_rows = static_cast<int>(tile_), a.centroids = static_cast<int>(k_);
  a.padded = a.stride = static_cast<int>(padded_), a.first = first, a.margin = margin_;
  a.given = given.numbers, a.given_counts = given.counts;
  a.nearest = as<float>(nearest_), a.upper = as<float>(upper_), a.bounds = as<int>(bounds_);
  a.numbers = as<int>(numbers_), a.counts = as<int>(counts_);
  a.list = list + 1, a.listed = reinterpret_cast<cuda::word64*>(list), a.kept = kept;
  const cuda::KernelPlan plan = cuda::bounds_lists_plan(cuda::ceil_div(rows.rows, tile_), ctx.stream.device());
  cuda::launch_with<cuda::BoundsListsPolicy>(ctx, plan, a);
}

ChosenCentroids TileBounds::chosen(const ChoosingPass& pass, const cuda::ChosenArgument& given) const {
  auto* const list = as<index_t>(list_);
  const bool here = given.numbers == nullptr;
  return {{list + 1, reinterpret_cast<cuda::word64*>(list)},
          by_rows_.data(),
          as<float>(origins_),
          {here ? as<int>(numbers_) : given.numbers, here ? as<int>(counts_) : given.counts, static_cast<int>(padded_),
           static_cast<int>(k_), few_, as<int>(bounds_), as<float>(upper_), as<float>(nearest_),
           static_cast<float>(pass.origin)}};
}

ChosenCentroids TileBounds::choose(const Context& ctx, const ChoosingPass& pass) {
  make_room(ctx, pass, n_);
  const bool first = !trials_.known();
  const Ordered rows{n_, as<std::uint32_t>(order_)};
  cuda::ChosenArgument given;
  if (first && heads_ != nullptr) {
    given = heads_->choose_within(ctx, pass, margin_).lists;
    cuda::copy_bytes(ctx.stream, order_.data(), heads_->order(), static_cast<std::size_t>(n_) * sizeof(std::uint32_t));
  } else if (first) {
    order_rows(ctx, pass);
  }
  if (first) measure(ctx, pass, rows);
  place_centroids(ctx, pass);
  move(ctx, pass, first);
  list(ctx, pass, rows, first, given, pass.kept);
  ChosenCentroids found = chosen(pass, given);
  found.lists.turns = as<int>(turns_);
  cuda::launch_with<cuda::BoundsTurnsPolicy>(ctx, cuda::bounds_turns_plan(),
                                             {found.lists.counts, static_cast<int>(cuda::ceil_div(n_, tile_)),
                                              static_cast<int>(pass.chosen.kernel.grid), as<int>(turns_)});
  return found;
}

ChosenCentroids TileBounds::probe(const Context& ctx, const ChoosingPass& pass) {
  make_room(ctx, pass, std::min(n_, probed_places * tiles_together * cuda::tile_rows(pass.chosen)));
  order_rows(ctx, pass);
  const Ordered rows = some_tiles(ctx);
  measure(ctx, pass, rows);
  place_centroids(ctx, pass);
  move(ctx, pass, true);
  list(ctx, pass, rows, true, {}, as<cuda::word64>(kept_));
  ChosenCentroids all = chosen(pass, {});
  all.lists.probes = true;
  return all;
}

void TileBounds::look(const Context& ctx, const ChoosingPass& pass, const double* previous) {
  cuda::copy_bytes(ctx.stream, before_.data(), previous, static_cast<std::size_t>(k_ * d_) * sizeof(double));
  move(ctx, pass, false);
  cuda::fill_bytes(ctx.stream, kept_.data(), 0, sizeof(cuda::word64));
  list(ctx, pass, {some_rows_, as<std::uint32_t>(some_)}, false, {}, as<cuda::word64>(kept_));
}

void TileBounds::probed(const Context& ctx) {
  cuda::word64 kept = 0;
  cuda::copy_bytes(ctx.stream, &kept, kept_.data(), sizeof kept);
  ctx.stream.synchronize();
  trials_.probed(share_of(static_cast<index_t>(kept), some_rows_));
}

}  // namespace ts::inline v0::assign_device
