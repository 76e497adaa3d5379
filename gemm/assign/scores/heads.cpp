#include "tallskinny/gemm/assign/scores/heads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/assign/rows/upload.hpp"
#include "tallskinny/gemm/assign/scores/mixed_axes.hpp"
#include "tallskinny/gemm/assign/sums/plan.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"

namespace ts::inline v0::assign_device {

namespace {

using cuda::ceil_div;

/// to = x Q, both of a few rows.
template <class T>
void turn_rows(const Context& ctx, const Rows& x, const DeviceMatrix<float>& axes, float* to) {
  tsmm(ctx, Op::none, 1.0F,
       DeviceView<const T>::unchecked(static_cast<const T*>(x.values()), x.rows(), x.cols(), x.row_stride()),
       axes.cview(), 0.0F, DeviceView<float>::unchecked(to, x.rows(), axes.cols(), axes.cols()));
}

}  // namespace

Heads::Heads(const Context& ctx, const Rows& x, const ColumnMoments& moments, const Along& along, index_t k,
             double scale)
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
      turned_(ctx.stream, k, m_),
      heads_(array<std::uint8_t>(ctx, n_ * form_.bytes())),
      norms_(array<cuda::HeadNorms>(ctx, n_)),
      places_(array<std::uint32_t>(ctx, k + 1)),
      order_(array<std::uint32_t>(ctx, n_)),
      list_(array<index_t>(ctx, n_ + 1)),
      limits_(array<std::uint16_t>(ctx, n_ * cuda::limit_columns)),
      signs_(array<std::uint32_t>(ctx, ceil_div(n_, cuda::heads_rows) * padded_ / 32)),
      by_rows_(array<std::uint16_t>(ctx, (k + 1) * row_columns(d_))),
      origins_(array<float>(ctx, k + 1)),
      chunks_(array<std::uint8_t>(ctx, padded_ * (form_.bytes() + 2 * cuda::limit_columns))) {
  const Matrix<double> axes = form_.numbers == HeadNumbers::int8 ? assign_detail::mixed_axes(ctx, along.axes)
                                                                 : Matrix<double>::copy_of(along.axes);
  const index_t at_once = std::min(n_, index_t{1} << 18);
  Matrix<double> turned_shift(1, m_);
  Matrix<float> narrow(d_, m_);
  double shift_norm = 0;
  for (index_t j = 0; j < m_; ++j) turned_shift(0, j) = 0;
  for (index_t i = 0; i < d_; ++i) {
    const double shift = moments.shift[static_cast<std::size_t>(i)];
    shift_norm += shift * shift;
    for (index_t j = 0; j < m_; ++j)
      turned_shift(0, j) += shift * axes(i, j), narrow(i, j) = static_cast<float>(axes(i, j));
  }
  Matrix<float> moved(1, m_);
  for (index_t j = 0; j < m_; ++j) moved(0, j) = static_cast<float>(turned_shift(0, j) * scale);
  DeviceMatrix<float> narrow_there(ctx.stream, d_, m_), moved_there(ctx.stream, 1, m_);
  copy(ctx.stream, axes_.view(), axes.cview()), copy(ctx.stream, shift_.view(), turned_shift.cview());
  copy(ctx.stream, narrow_there.view(), narrow.cview()), copy(ctx.stream, moved_there.view(), moved.cview());
  Upload upload(ctx, d_);
  const double* const shift_there = upload.next();
  upload.add(moments.shift);
  upload.send();
  // Products of float32 or better lose d + 16 roundings at most.
  const float error = static_cast<float>(d_ + 64) * 0x1p-23F;
  const cuda::Memory turned = array<float>(ctx, at_once * m_);
  for (index_t i = 0; i < n_; i += at_once) {
    const Rows block = x.block(i, std::min(at_once, n_ - i));
    if (x.type() == DType::float16)
      turn_rows<float16>(ctx, block, narrow_there, as<float>(turned));
    else
      turn_rows<float>(ctx, block, narrow_there, as<float>(turned));
    cuda::launch_with<cuda::HeadsRowsPolicy>(
        ctx, cuda::heads_rows_plan(x.type(), form_.numbers, block.rows(), ctx.stream.device()),
        {argument_of(block), as<float>(turned), shift_there, moved_there.data(), scale, error,
         static_cast<float>(std::sqrt(shift_norm) * scale * 1.0001), static_cast<int>(d_), static_cast<int>(m_),
         as<std::uint8_t>(heads_) + i * form_.bytes(), as<cuda::HeadNorms>(norms_) + i});
  }
  ctx.stream.synchronize();
}

std::uint64_t Heads::bytes(index_t n, index_t d, const HeadsForm& form, index_t k) noexcept {
  const index_t m = form.columns;
  const index_t of_rows =
      form.bytes() + static_cast<index_t>(sizeof(cuda::HeadNorms)) + 4 + 8 + 2 * cuda::limit_columns;
  const index_t of_pairs = padded_to_chunks(k) / (8 * cuda::heads_rows) + padded_to_chunks(k) * 4 / cuda::group_rows;
  const index_t of_centroids = 2 * row_columns(d) + 10 * m + 64;
  return static_cast<std::uint64_t>(n * (of_rows + of_pairs) + k * of_centroids +
                                    4 * m * std::min(n, index_t{1} << 18));
}

bool Heads::serve(const Rows& x, double scale) noexcept {
  if (!fit(x, scale)) return false;
  if (rest_ == 0) return true;
  --rest_;
  return false;
}

void Heads::passed(index_t kept, double seconds, double seconds_without) noexcept {
  constexpr double most_kept = 0.5, most_at_first = 0.75;  // first centroids have just become means
  constexpr int longest_rest = 64;
  const bool first = !loaded_;
  take_kept(kept, n_, k_);
  loaded_ = true;
  const double pairs = static_cast<double>(n_) * static_cast<double>(padded_);
  const bool many = static_cast<double>(kept) > (first ? most_at_first : most_kept) * pairs;
  if (!many && (first || seconds <= seconds_without)) {
    pause_ = 1;
    return;
  }
  rest_ = pause_;
  pause_ = std::min(2 * pause_, longest_rest);
}

void Heads::turn(const Context& ctx, const double* centroids) {
  tsmm(ctx, Op::none, 1.0, DeviceView<const double>::unchecked(centroids, k_, d_, d_), axes_.cview(), 0.0,
       turned_.view());
}

void order_by_labels(const Context& ctx, PerRow<const std::int32_t> labels, index_t n, index_t k, std::uint32_t* places,
                     std::uint32_t* order) {
  const auto clusters = static_cast<int>(k);
  cuda::fill_bytes(ctx.stream, places, 0, static_cast<std::size_t>(k + 1) * sizeof(std::uint32_t));
  const auto sort = [&](bool put) {
    cuda::launch_with<cuda::SumsSortPolicy>(ctx, cuda::sums_sort_plan(put, k, n, ctx.stream.device()),
                                            {static_cast<int>(n), {}, labels.data, clusters, places, order});
  };
  sort(false);
  cuda::launch_with<cuda::SumsPlacesPolicy>(ctx, cuda::sums_places_plan(k), {clusters, places, places + k});
  sort(true);
}

ChosenCentroids Heads::choose_within(const Context& ctx, const ChoosingPass& pass, float margin) {
  const cuda::DeviceInfo& device = ctx.stream.device();
  const auto steps = static_cast<int>(pass.plans.steps), k = static_cast<int>(k_), m = static_cast<int>(m_);
  const auto chunk_count = static_cast<int>(padded_ / cuda::heads_chunk);
  if (const index_t tile = cuda::tile_rows(pass.chosen); tile != tile_) {
    tile_ = tile;
    numbers_ = array<int>(ctx, ceil_div(n_, tile) * padded_), counts_ = array<int>(ctx, ceil_div(n_, tile));
  }
  auto* const order = as<std::uint32_t>(order_);
  order_by_labels(ctx, pass.labels, n_, k_, as<std::uint32_t>(places_), order);
  cuda::launch_with<cuda::HeadsCentroidsPolicy>(
      ctx, cuda::heads_centroids_plan(form_.numbers, k_),
      {pass.centroids, turned_.data(), pass.shift, shift_.data(), pass.half_norms, pass.origins, scale_, k,
       static_cast<int>(d_), m, steps, static_cast<int>(padded_), pass.beyond, by_rows_.data(), as<float>(origins_),
       chunks_.data()});
  auto* const list = as<index_t>(list_);
  cuda::launch_with<cuda::HeadsLimitsPolicy>(
      ctx, cuda::heads_limits_plan(cuda::rows_form(x_), form_, steps, device),
      {argument_of(x_), order, pass.labels.data, by_rows_.data(), pass.half_norms, pass.largest, pass.shift, scale_,
       as<cuda::HeadNorms>(norms_), margin, limits_.data(), list + 1, reinterpret_cast<cuda::word64*>(list)});
  cuda::launch_with<cuda::HeadsTilesPolicy>(
      ctx, cuda::heads_tiles_plan(n_, form_, false, device),
      {heads_.data(), limits_.data(), chunks_.data(), order, n_, chunk_count, as<std::uint32_t>(signs_)});
  cuda::launch_with<cuda::HeadsListsPolicy>(ctx, cuda::heads_lists_plan(ceil_div(n_, tile_), device),
                                            {as<std::uint32_t>(signs_), ceil_div(n_, cuda::heads_rows), chunk_count,
                                             static_cast<int>(tile_ / cuda::heads_rows), k, static_cast<int>(padded_),
                                             as<int>(numbers_), as<int>(counts_), pass.kept});
  return {{list + 1, reinterpret_cast<cuda::word64*>(list)},
          by_rows_.data(),
          as<float>(origins_),
          {as<int>(numbers_), as<int>(counts_), static_cast<int>(padded_), k, few_}};
}

}  // namespace ts::inline v0::assign_device
