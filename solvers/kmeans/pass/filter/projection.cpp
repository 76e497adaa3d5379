#include "tallskinny/solvers/kmeans/pass/filter/projection.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"

namespace ts::inline v0::assign_device {

namespace {

using cuda::ceil_div;

/// ||Q^T Q - 1||, at most, of the Gram matrix of axes.
double distance_from_one(const Context& ctx, const DeviceMatrix<double>& gram) {
  Matrix<double> here(gram.rows(), gram.cols());
  copy(ctx.stream, here.view(), gram.cview());
  ctx.stream.synchronize();
  if (ctx.stream.rehearsal() != nullptr) return 0;
  double squared = 0;
  for (index_t i = 0; i < here.rows(); ++i)
    for (index_t j = 0; j < here.cols(); ++j) {
      const double off = here(i, j) - (i == j ? 1 : 0);
      squared += off * off;
    }
  return std::sqrt(squared) * (1 + 0x1p-20) + 0x1p-40;
}

/// The m x m matrix that turns m axes into others of the same space along which all coordinates vary about alike, so
/// that one scale serves a whole row: the discrete Hartley transform (cos + sin of 2 pi j a / m) of axes with random
/// signs.
Matrix<double> mix_of_axes(index_t m) {
  std::vector<double> wave(at(m));
  for (index_t j = 0; j < m; ++j) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(m);
    wave[at(j)] = (std::cos(angle) + std::sin(angle)) / std::sqrt(static_cast<double>(m));
  }
  Matrix<double> mix(m, m);
  for (index_t j = 0; j < m; ++j) {
    const double sign = Philox{0, 0}.bits(static_cast<std::uint64_t>(j)) % 2 == 1 ? -1 : 1;
    for (index_t a = 0; a < m; ++a) mix(j, a) = sign * wave[at(j * a % m)];
  }
  return mix;
}

}  // namespace

ProjectionFilter::ProjectionFilter(const Context& ctx, const Rows& x, const ColumnMoments& moments, const Along& along,
                                   index_t k, double scale)
    : x_(x),
      n_(x.rows()),
      d_(x.cols()),
      k_(k),
      m_(along.axes.cols()),
      padded_(padded_to_chunks(k)),
      form_{m_, along.numbers},
      scale_(scale),
      axes_(ctx.stream, d_, m_),
      shift_(ctx.stream, 1, m_),
      along_axes_(ctx.stream, k, m_),
      projections_(array<std::uint8_t>(ctx, n_ * form_.bytes())),
      norms_(array<cuda::ProjectionNorms>(ctx, n_)),
      places_(array<std::uint32_t>(ctx, k + 1)),
      order_(array<std::uint32_t>(ctx, n_)),
      list_(array<index_t>(ctx, n_ + 1)),
      limits_(array<std::uint16_t>(ctx, n_ * cuda::limit_columns)),
      signs_(array<std::uint32_t>(ctx, ceil_div(n_, cuda::projection_rows) * padded_ / 32)),
      by_rows_(array<std::uint16_t>(ctx, (k + 1) * row_columns(d_))),
      origins_(array<float>(ctx, k + 1)),
      chunks_(array<std::uint8_t>(ctx, padded_ * (form_.bytes() + 2 * cuda::limit_columns))) {
  const bool mixes = form_.numbers == ProjectionNumbers::int8;
  const Matrix<double> mix_here = mixes ? mix_of_axes(m_) : Matrix<double>();
  DeviceMatrix<double> mix(ctx.stream, mix_here.rows(), mix_here.cols()), shift_there(ctx.stream, 1, d_);
  DeviceMatrix<double> taken(ctx.stream, d_, m_), rounded(ctx.stream, d_, m_), gram_there(ctx.stream, m_, m_);
  copy(ctx.stream, mix.view(), mix_here.cview());
  if (mixes)
    tsmm(ctx, Op::none, 1.0, along.axes, mix.cview(), 0.0, taken.view());
  else
    copy(ctx.stream, taken.view(), along.axes);
  const cuda::KernelPlan axes_plan = cuda::projection_axes_plan(form_, d_);
  const cuda::Memory stages = array<std::uint16_t>(ctx, static_cast<index_t>(axes_plan.grid) * axes_plan.block);
  cuda::launch_with<cuda::ProjectionAxesPolicy>(
      ctx, axes_plan,
      {taken.data(), static_cast<int>(d_), static_cast<int>(m_), rounded.data(), axes_.data(), stages.data()});
  // 2 - G is G^-1 up to the square of what G is from 1: axes are those of centroids, Q (2 - G), now.
  gram(alone(ctx), Op::transpose, 1.0, rounded.cview(), 0.0, gram_there.view());
  tsmm(ctx, Op::none, -1.0, rounded.cview(), gram_there.cview(), 2.0, axes_.view());
  Upload upload(ctx, d_);
  upload.add(moments.shift);
  upload.send(shift_there.data());
  tsmm(ctx, Op::none, 1.0, shift_there.cview(), axes_.cview(), 0.0, shift_.view());
  const double delta = distance_from_one(ctx, gram_there);
  expects(delta < 0.25, "projections: axes are not orthonormal");
  held_ = 1 - delta, off_ = delta * delta / (1 - delta) * (1 + delta);
  const auto d = static_cast<double>(d_), m = static_cast<double>(m_), longest = std::sqrt(1 + delta);
  const double shift_norm =
      std::sqrt(std::inner_product(moments.shift.begin(), moments.shift.end(), moments.shift.begin(), 0.0)) * scale;
  const double of_sums = std::sqrt(m) * 18 * (std::ceil(d / 16) + 4) * 0x1p-23;
  cuda::launch_with<cuda::ProjectionRowsPolicy>(
      ctx, cuda::projection_rows_plan(cuda::rows_form(x), form_),
      {argument_of(x), stages.data(), shift_there.data(), scale,
       static_cast<float>((of_sums * 1.01 + 0x1p-11 + 0x1p-21) * longest * 1.01),
       static_cast<float>((std::sqrt(d) * 0x1p-24 + shift_norm * 0x1p-21) * longest),
       static_cast<float>((1 - 0x1p-20) / (1 + delta)), static_cast<int>(d_), static_cast<int>(m_), projections_.data(),
       as<cuda::ProjectionNorms>(norms_)});
  ctx.stream.synchronize();
}

std::uint64_t ProjectionFilter::bytes(index_t n, index_t d, const ProjectionForm& form, index_t k) noexcept {
  const index_t m = form.columns;
  const index_t of_rows =
      form.bytes() + static_cast<index_t>(sizeof(cuda::ProjectionNorms)) + 4 + 8 + 2 * cuda::limit_columns;
  const index_t of_pairs =
      padded_to_chunks(k) / (8 * cuda::projection_rows) + padded_to_chunks(k) * 4 / cuda::group_rows;
  const index_t of_centroids = 2 * row_columns(d) + 10 * m + 64;
  return static_cast<std::uint64_t>(n * (of_rows + of_pairs) + k * of_centroids);
}

void ProjectionFilter::set_centroids(const Context& ctx, const double* centroids) {
  tsmm(ctx, Op::none, 1.0, DeviceView<const double>::unchecked(centroids, k_, d_, d_), axes_.cview(), 0.0,
       along_axes_.view());
}

ListedCentroids ProjectionFilter::candidates_within(const Context& ctx, const FilterPass& pass, float margin) {
  const cuda::DeviceInfo& device = ctx.stream.device();
  const auto steps = static_cast<int>(pass.plans.steps), k = static_cast<int>(k_), m = static_cast<int>(m_);
  const auto chunk_count = static_cast<int>(padded_ / cuda::projection_chunk);
  if (const index_t tile = cuda::tile_rows(pass.listed); tile != tile_) {
    tile_ = tile;
    numbers_ = array<int>(ctx, ceil_div(n_, tile) * padded_), counts_ = array<int>(ctx, ceil_div(n_, tile));
  }
  auto* const order = as<std::uint32_t>(order_);
  sort_moves(ctx, {static_cast<int>(n_), {}, pass.labels.data, k, as<std::uint32_t>(places_), order});
  cuda::launch_with<cuda::ProjectionCentroidsPolicy>(
      ctx, cuda::projection_centroids_plan(form_.numbers, k_),
      {pass.centroids, along_axes_.data(), pass.shift, shift_.data(), pass.half_norms, pass.origins, scale_, held_,
       off_, k, static_cast<int>(d_), m, steps, static_cast<int>(padded_), pass.beyond, by_rows_.data(),
       as<float>(origins_), chunks_.data()});
  auto* const list = as<index_t>(list_);
  cuda::launch_with<cuda::ProjectionLimitsPolicy>(
      ctx, cuda::projection_limits_plan(cuda::rows_form(x_), form_, steps, device),
      {argument_of(x_), order, pass.labels.data, by_rows_.data(), pass.half_norms, pass.largest, pass.shift, scale_,
       as<cuda::ProjectionNorms>(norms_), margin, limits_.data(), list + 1, reinterpret_cast<cuda::word64*>(list)});
  cuda::launch_with<cuda::ProjectionTilesPolicy>(
      ctx, cuda::projection_tiles_plan(n_, form_, false, device),
      {projections_.data(), limits_.data(), chunks_.data(), order, n_, chunk_count, as<std::uint32_t>(signs_)});
  launch_warps(ctx, "projection_lists", cuda::ProjectionListsPolicy{}, ceil_div(n_, tile_),
               {as<std::uint32_t>(signs_), ceil_div(n_, cuda::projection_rows), chunk_count,
                static_cast<int>(tile_ / cuda::projection_rows), k, static_cast<int>(padded_), as<int>(numbers_),
                as<int>(counts_), pass.kept},
               64);
  return {{list + 1, reinterpret_cast<cuda::word64*>(list)},
          by_rows_.data(),
          as<float>(origins_),
          {as<int>(numbers_), as<int>(counts_), static_cast<int>(padded_), k}};
}

bool inverse_factor(const Context& ctx, const DeviceMatrix<double>& gram, double dead) {
  const auto plan = cuda::axes_factor_plan(gram.rows(), ctx.stream.device());
  expects(plan.has_value(), "axes: a Gram matrix has too many columns");
  Workspace w;
  const std::size_t independent = w.reserve<double>(1);
  w.get(ctx.stream);
  cuda::launch_with<cuda::AxesFactorPolicy>(
      ctx, *plan, {gram.data(), static_cast<int>(gram.rows()), dead, w.at<double>(independent)});
  return fetch_number(ctx, w.at<double>(independent)) != 0 || ctx.stream.rehearsal() != nullptr;
}

}  // namespace ts::inline v0::assign_device
