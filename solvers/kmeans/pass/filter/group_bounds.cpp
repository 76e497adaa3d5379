#include "tallskinny/solvers/kmeans/pass/filter/group_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/bytes.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0 {

using assign_cpu::group_centroids, assign_cpu::piece_size, assign_cpu::no_bound;
using assign_detail::float_above;

namespace {

constexpr index_t columns_of_bytes(index_t d) noexcept { return (d + 63) / 64 * 64; }
constexpr index_t stride_of_bytes(index_t d) noexcept { return (columns_of_bytes(d) / 64 | 1) * 64; }

}  // namespace

bool GroupBounds::possible(const Context& ctx, index_t d) {
  return assign_cpu::select(ctx.simd).pruning.rows > 0 && d <= assign_detail::most_columns_of_bytes;
}

assign_cpu::ProductCosts GroupBounds::costs(const Context& ctx) { return assign_cpu::select(ctx.simd).pruning.costs; }

std::uint64_t GroupBounds::bytes(index_t rows, index_t d, index_t k) noexcept {
  const index_t of_row = stride_of_bytes(d) + 2 * ((k + group_centroids - 1) / group_centroids) + 24;
  return static_cast<std::uint64_t>(rows * of_row + 16 * k * d);
}

GroupBounds::GroupBounds(const Context& ctx, index_t rows, index_t k, const ColumnMoments& moments)
    : rows_(rows),
      d_(std::ssize(moments.shift)),
      columns_(columns_of_bytes(d_)),
      stride_(stride_of_bytes(d_)),
      k_(k),
      groups_((k + group_centroids - 1) / group_centroids),
      pieces_((rows + piece_size - 1) / piece_size),
      moments_(moments),
      scale_(assign_detail::scoring_scale(HostView<const double>(nullptr, 0, d_), moments)),
      bytes_memory_(at(rows * stride_)),
      bounds_memory_(at(pieces_ * groups_ * piece_size) * sizeof(std::uint16_t)),
      bytes_(static_cast<std::int8_t*>(bytes_memory_.data())),
      start_(at(rows)),
      upper_(at(pieces_ * piece_size), no_bound),
      bounds_(static_cast<std::uint16_t*>(bounds_memory_.data())),
      number_(at(k)),
      place_(at(k)) {
  expects(possible(ctx, d_), "bounds of groups: the processor has no instructions for it, or rows are too wide");
  for (auto* of_row : {&unit_, &byte_norm_, &error_, &square_}) of_row->resize(at(rows));
  std::iota(number_.begin(), number_.end(), 0);
  place_ = number_;
}

void GroupBounds::forget(const Context& ctx) {
  std::fill(upper_.begin(), upper_.end(), no_bound);
  parallel_ranges(ctx.thread_count(), pieces_, [&](index_t begin, index_t end) {
    std::fill(bounds_ + begin * groups_ * piece_size, bounds_ + end * groups_ * piece_size, std::uint16_t{0});
  });
}

void GroupBounds::put(const Context& ctx, index_t first, const Rows& block) {
  expects(first >= 0 && first + block.rows() <= rows_ && block.cols() == d_, "bounds of groups: these are other rows");
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(ctx.simd);
  const assign_detail::PackedShift<float> shift(moments_, scale_, kernels.float32.lanes);
  parallel_ranges(ctx.thread_count(), block.rows(), [&](index_t begin, index_t end) {
    std::vector<float> x(at(columns_));
    std::vector<double> row(at(d_));
    for (index_t i = begin; i < end; ++i) {
      const std::size_t to = at(first + i);
      kernels.pruning.scaled_row(block, i, shift.packing, row.data(), x.data());
      const double square = kernels.pruning.square(x.data(), d_);
      const double norm = std::sqrt(square) * (1 + 0x1p-20);
      const assign_detail::Bytes all =
          assign_detail::round_to_bytes(kernels.pruning, x.data(), columns_, norm, bytes_ + (first + i) * stride_);
      unit_[to] = static_cast<float>(all.unit), start_[to] = -all.sum * kernels.pruning.offset;
      byte_norm_[to] = float_above(all.norm), error_[to] = float_above(all.error + 0x1p-23 * norm);
      square_[to] = float_above(square);
    }
  });
}

/// Orders centroids into groups by halving along the column in which those to be halved vary most.
void GroupBounds::order_centroids() {
  const auto halve = [&](const auto& self, index_t begin, index_t end) -> void {
    if (end - begin <= group_centroids) return;
    std::vector<double> sum(at(d_)), squares(at(d_));
    for (index_t q = begin; q < end; ++q)
      for (index_t j = 0; j < d_; ++j) {
        const double value = scaled_(number_[at(q)], j);
        sum[at(j)] += value, squares[at(j)] += value * value;
      }
    index_t widest = 0;
    double most = -1;
    for (index_t j = 0; j < d_; ++j) {
      const double spread = squares[at(j)] - sum[at(j)] * sum[at(j)] / static_cast<double>(end - begin);
      if (spread > most) most = spread, widest = j;
    }
    const index_t half = begin + ((end - begin) / 2 + group_centroids - 1) / group_centroids * group_centroids;
    std::nth_element(number_.begin() + begin, number_.begin() + half, number_.begin() + end,
                     [&](std::int32_t a, std::int32_t b) {
                       const double u = scaled_(a, widest), v = scaled_(b, widest);
                       return u < v || (u == v && a < b);
                     });
    self(self, begin, half);
    self(self, half, end);
  };
  halve(halve, 0, k_);
  for (index_t q = 0; q < k_; q += group_centroids)
    std::sort(number_.begin() + q, number_.begin() + std::min(k_, q + group_centroids));
  for (index_t q = 0; q < k_; ++q) place_[at(number_[at(q)])] = static_cast<std::int32_t>(q);
}

void GroupBounds::begin_pass(const Context& ctx, HostView<const double> centroids) {
  expects(centroids.rows() == k_ && centroids.cols() == d_, "bounds of groups: the centroids have another shape");
  const bool held = serves_ && !copies_ && scaled_.rows() == k_;
  serves_ = assign_detail::scoring_scale(centroids, moments_) == scale_;
  if (!serves_) {
    scaled_ = {};
    return;
  }
  Matrix<double> scaled = assign_detail::scaled_centroids(ctx, centroids, moments_, scale_, std::move(before_));
  if (held)
    moved_ = assign_detail::steps_between(ctx, scaled_.cview(), scaled.cview());
  else
    moved_.assign(at(k_), 0);
  before_ = std::exchange(scaled_, std::move(scaled));
  if (!held) {
    forget(ctx);
    order_centroids();
  }
  group_moved_.assign(at(groups_), 0);
  for (index_t q = 0; q < k_; ++q)
    group_moved_[at(q / group_centroids)] = std::max(group_moved_[at(q / group_centroids)], moved_[at(number_[at(q)])]);
  copies_ = false;  // until the pass finds one
}

}  // namespace ts::inline v0
