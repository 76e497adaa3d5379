#include "tallskinny/solvers/kmeans/pass/filter/tile_bounds.hpp"

#include <algorithm>

#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"

namespace ts::inline v0::assign_device {

TileBounds::TileBounds(const Rows& x, index_t k)
    : x_(x), n_(x.rows()), d_(x.cols()), k_(k), padded_(padded_to_chunks(k)) {}

std::uint64_t TileBounds::bytes(index_t n, index_t d, index_t k) noexcept {
  const index_t of_rows = 2 * 4 + 4 + 8 + padded_to_chunks(k) * 8 / cuda::group_rows;
  return static_cast<std::uint64_t>(n * of_rows + k * (8 * d + 2 * row_columns(d) + 64));
}

bool TileBounds::fit(const Rows& x, double scale) noexcept {
  if (scale != scale_) forget();
  scale_ = scale;
  return x.values() == x_.values() && x.rows() == n_;
}

void TileBounds::passed(index_t kept) noexcept {
  // Scoring a tile of rows with all centroids, in three products, takes as long as deciding about 70 k / L rows among L
  // centroids (H100).
  const index_t scored = std::max<index_t>(1, kept / n_);
  few_ = known_ && kept > 0 ? static_cast<int>(48 * k_ / scored) : 0;
  known_ = true;
}

void TileBounds::allocate(const Context& ctx, const FilterPass& pass) {
  const index_t tile = cuda::tile_rows(pass.listed);
  if (tile == tile_) return;
  tile_ = tile;
  before_ = DeviceMatrix<double>(ctx.stream, k_, d_);
  moves_ = array<float>(ctx, k_), places_ = array<std::uint32_t>(ctx, k_ + 1), order_ = array<std::uint32_t>(ctx, n_);
  by_rows_ = array<std::uint16_t>(ctx, (k_ + 1) * row_columns(d_)), origins_ = array<float>(ctx, k_ + 1);
  chunks_ = array<std::uint8_t>(ctx, padded_ * 2 * cuda::limit_columns);
  const index_t tiles = cuda::ceil_div(n_, tile);
  bounds_ = array<int>(ctx, tiles * padded_), numbers_ = array<int>(ctx, tiles * padded_);
  counts_ = array<int>(ctx, tiles), schedule_ = array<int>(ctx, tiles);
  nearest_ = array<float>(ctx, n_), upper_ = array<float>(ctx, n_), list_ = array<index_t>(ctx, n_ + 1);
  forget();
}

/// Measures the distance of each row to its own centroid.
void TileBounds::measure(const Context& ctx, const FilterPass& pass) {
  launch_warps(ctx, "bounds_uppers", cuda::BoundsUppersPolicy{x_.type()}, n_,
               {argument_of(x_), as<std::uint32_t>(order_), pass.labels.data, pass.centroids, pass.scale,
                static_cast<int>(d_), as<float>(nearest_)},
               64);
}

void TileBounds::place_centroids(const Context& ctx, const FilterPass& pass) {
  cuda::launch_with<cuda::ProjectionCentroidsPolicy>(
      ctx, cuda::projection_centroids_plan(ProjectionNumbers::float16, k_),
      {pass.centroids, nullptr, pass.shift, nullptr, pass.half_norms, pass.origins, pass.scale, 1, 0,
       static_cast<int>(k_), static_cast<int>(d_), 0, static_cast<int>(pass.plans.steps), static_cast<int>(padded_),
       pass.beyond, by_rows_.data(), as<float>(origins_), chunks_.data()});
}

void TileBounds::move(const Context& ctx, const FilterPass& pass, bool first) {
  launch_threads(ctx, "bounds_moves", cuda::BoundsMovesPolicy{}, 32 * k_,
                 {pass.centroids, before_.data(), pass.half_norms, pass.scale, static_cast<int>(k_),
                  static_cast<int>(d_), first, as<float>(moves_)});
}

void TileBounds::list(const Context& ctx, const FilterPass& pass, bool first, const cuda::CandidateLists& given) {
  auto* const list = as<index_t>(list_);
  cuda::BoundsListsArguments a{};
  a.order = as<std::uint32_t>(order_), a.labels = pass.labels.data, a.moves = as<float>(moves_), a.rows = n_;
  a.tile_rows = static_cast<int>(tile_), a.centroids = static_cast<int>(k_);
  a.padded = a.stride = static_cast<int>(padded_), a.first = first, a.margin = margin_;
  a.given = given.numbers, a.given_counts = given.counts;
  a.nearest = as<float>(nearest_), a.upper = as<float>(upper_), a.bounds = as<int>(bounds_);
  a.numbers = as<int>(numbers_), a.counts = as<int>(counts_);
  a.list = list + 1, a.listed = reinterpret_cast<cuda::word64*>(list), a.kept = pass.kept;
  launch_warps(ctx, "bounds_lists", cuda::BoundsListsPolicy{}, cuda::ceil_div(n_, tile_), a, 64);
}

ListedCentroids TileBounds::listed(const FilterPass& pass, const cuda::CandidateLists& given) const {
  auto* const list = as<index_t>(list_);
  const bool here = given.numbers == nullptr;
  return {{list + 1, reinterpret_cast<cuda::word64*>(list)},
          by_rows_.data(),
          as<float>(origins_),
          {here ? as<int>(numbers_) : given.numbers, here ? as<int>(counts_) : given.counts, static_cast<int>(padded_),
           static_cast<int>(k_), few_, as<int>(bounds_), as<float>(upper_), as<float>(nearest_),
           static_cast<float>(pass.origin)}};
}

ListedCentroids TileBounds::candidates(const Context& ctx, const FilterPass& pass) {
  allocate(ctx, pass);
  const bool first = !known_;
  cuda::CandidateLists given;
  if (first && projections_ != nullptr) {
    given = projections_->candidates_within(ctx, pass, margin_).lists;
    cuda::copy_bytes(ctx.stream, order_.data(), projections_->order(), at(n_) * sizeof(std::uint32_t));
  } else if (first) {
    sort_moves(ctx, {static_cast<int>(n_),
                     {},
                     pass.labels.data,
                     static_cast<int>(k_),
                     as<std::uint32_t>(places_),
                     as<std::uint32_t>(order_)});
  }
  if (first) measure(ctx, pass);
  place_centroids(ctx, pass);
  move(ctx, pass, first);
  list(ctx, pass, first, given);
  ListedCentroids found = listed(pass, given);
  found.lists.schedule = as<int>(schedule_);
  cuda::launch_with<cuda::BoundsSchedulePolicy>(ctx, cuda::bounds_schedule_plan(),
                                                {found.lists.counts, static_cast<int>(cuda::ceil_div(n_, tile_)),
                                                 static_cast<int>(pass.listed.kernel.grid), as<int>(schedule_)});
  return found;
}

}  // namespace ts::inline v0::assign_device
