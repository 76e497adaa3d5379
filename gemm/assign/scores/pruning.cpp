#include "tallskinny/gemm/assign/scores/pruning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/assign/scores/axes.hpp"
#include "tallskinny/gemm/assign/scores/centroids.hpp"
#include "tallskinny/gemm/assign/sums/cluster_sums.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace ts::inline v0 {

namespace {

using assign_cpu::head_group, assign_cpu::head_piece, assign_cpu::no_bound;
using assign_detail::Bytes, assign_detail::float_above, assign_detail::GroupsOfBytes, assign_detail::weight_for;

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

constexpr index_t block_rows = 2048;  ///< whose heads are computed at a time

/// More than a few roundings to float32.
constexpr double a_little_more = 1 + 0x1p-20;

/// ||Q^T Q - I|| in the norm of Frobenius.
double defect_of(const Context& ctx, HostView<const double> q) {
  Matrix<double> g(q.cols(), q.cols());
  gram(alone(ctx), Op::transpose, 1.0, q, 0.0, g.view());
  double sum = 0;
  for (index_t a = 0; a < q.cols(); ++a)
    for (index_t b = 0; b < q.cols(); ++b) sum += (g(a, b) - (a == b ? 1 : 0)) * (g(a, b) - (a == b ? 1 : 0));
  return std::sqrt(sum);
}

/// What norms of a row or centroid are at most, given what was computed.
struct Norms {
  double head, error, tail;

  /// @param kept ||h||, @param lost ||computed head - h||, @param computed ||computed head||
  /// @param rounding of the computed head and of axes, times ||x||
  Norms(double kept, double lost, double computed, double square, double rounding) {
    const double off = rounding * std::sqrt(square), least = std::max(0.0, computed * (1 - 1e-5) - off);
    head = kept * a_little_more;
    error = lost * a_little_more + off;
    tail = std::sqrt(std::max(0.0, square * a_little_more - least * least)) * a_little_more;
  }
};

}  // namespace

bool Pruning::possible(const Context& ctx) { return assign_cpu::select(ctx.simd).pruning.rows > 0; }

assign_cpu::ProductCosts Pruning::costs(const Context& ctx) { return assign_cpu::select(ctx.simd).pruning.costs; }

Pruning::Pruning(const Context& ctx, index_t rows, HostView<const double> axes, index_t k, const ColumnMoments& moments)
    : rows_(rows),
      d_(axes.rows()),
      columns_(axes.cols()),
      k_(k),
      groups_((k + head_group - 1) / head_group),
      moments_(moments),
      scale_(assign_detail::scoring_scale(HostView<const double>(nullptr, 0, d_), moments)),
      axes_(d_, columns_),
      unmixed_(d_, columns_),
      groups_of_heads_(assign_cpu::select(ctx.simd).pruning, 0, 0) {
  expects(possible(ctx), "pruning: the processor has no instructions for it");
  expects(columns_ >= columns_step && columns_ <= most_columns && columns_ % columns_step == 0 && columns_ <= d_,
          "pruning: axes come in sixteens, not more than there are columns");
  const Matrix<double> mixed = assign_detail::mixed_axes(ctx, axes);
  defect_ = defect_of(ctx, mixed.cview());
  rounding_ = rounding(d_, columns_) + 2 * defect_;
  expects(defect_ <= 1e-9, "pruning: axes are not orthonormal");
  const auto narrowed = [](const Matrix<double>& from, Matrix<float>& to) {
    std::transform(from.data(), from.data() + from.rows() * from.cols(), to.data(),
                   [](double x) { return static_cast<float>(x); });
  };
  narrowed(mixed, axes_), narrowed(Matrix<double>::copy_of(axes), unmixed_);
  const index_t pieces = (rows + head_piece - 1) / head_piece;
  bytes_.resize(at(rows * columns_));
  for (auto* of_row : {&unit_, &head_, &error_, &tail_, &square_}) of_row->resize(at(rows));
  start_.resize(at(rows));
  upper_.assign(at(pieces * head_piece), no_bound);
  bounds_.assign(at(pieces * groups_ * head_piece), 0);
}

void Pruning::put(const Context& ctx, index_t first, const Rows& block) {
  expects(first >= 0 && first + block.rows() <= rows_ && block.cols() == d_, "pruning: these are other rows");
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(ctx.simd);
  const assign_detail::PackedShift<float> shift(moments_, scale_, kernels.float32.lanes);
  const index_t pieces = (block.rows() + block_rows - 1) / block_rows;
  parallel_ranges(ctx.thread_count(), pieces, [&](index_t begin, index_t end) {
    Matrix<float> x(block_rows, d_), heads(block_rows, columns_);
    std::vector<double> row(at(d_)), square(at(block_rows));
    for (index_t i0 = begin * block_rows; i0 < std::min(block.rows(), end * block_rows); i0 += block_rows) {
      const index_t count = std::min(block_rows, block.rows() - i0);
      for (index_t i = 0; i < count; ++i) {
        kernels.pruning.scaled_row(block, i0 + i, i0 + i, shift.packing, row.data(), &x(i, 0));
        square[at(i)] = kernels.pruning.square(&x(i, 0), d_);
      }
      tsmm(ctx, Op::none, 1.0F, x.cview().rows(0, count), axes_.cview(), 0.0F, heads.view().rows(0, count));
      for (index_t i = 0; i < count; ++i) put_row(kernels, first + i0 + i, &heads(i, 0), square[at(i)]);
    }
  });
  const auto mean = [&](const std::vector<float>& of_rows) {
    double sum = 0;
    for (index_t i = first; i < first + block.rows(); ++i) sum += static_cast<double>(of_rows[at(i)]);
    return sum / static_cast<double>(rows_);
  };
  typical_head_ += mean(head_), typical_error_ += mean(error_), typical_tail_ += mean(tail_);
}

void Pruning::put_row(const assign_cpu::AssignKernels& kernels, index_t row, const float* head, double square) {
  double computed = 0;
  for (index_t a = 0; a < columns_; ++a) computed += static_cast<double>(head[a]) * static_cast<double>(head[a]);
  const Bytes bytes = assign_detail::round_to_bytes(kernels.pruning, head, columns_, std::sqrt(computed),
                                                    bytes_.data() + row * columns_);
  const Norms norms(bytes.norm, bytes.error, std::sqrt(computed), square, rounding_);
  const std::size_t to = at(row);
  unit_[to] = static_cast<float>(bytes.unit), start_[to] = -bytes.sum * kernels.pruning.offset;
  head_[to] = float_above(norms.head), error_[to] = float_above(norms.error), tail_[to] = float_above(norms.tail);
  square_[to] = float_above(square);
}

/// By halving along the axis in which those to be halved vary most.
void Pruning::order_centroids(const Matrix<float>& heads) {
  number_.resize(at(k_));
  std::iota(number_.begin(), number_.end(), 0);
  const auto halve = [&](const auto& self, index_t begin, index_t end) -> void {
    if (end - begin <= head_group) return;
    std::vector<double> sum(at(columns_)), squares(at(columns_));
    for (index_t q = begin; q < end; ++q)
      for (index_t a = 0; a < columns_; ++a) {
        const auto value = static_cast<double>(heads(number_[at(q)], a));
        sum[at(a)] += value, squares[at(a)] += value * value;
      }
    index_t widest = 0;
    double most = -1;
    for (index_t a = 0; a < columns_; ++a) {
      const double spread = squares[at(a)] - sum[at(a)] * sum[at(a)] / static_cast<double>(end - begin);
      if (spread > most) most = spread, widest = a;
    }
    const index_t half = begin + ((end - begin) / 2 + head_group - 1) / head_group * head_group;
    std::nth_element(number_.begin() + begin, number_.begin() + half, number_.begin() + end,
                     [&](std::int32_t a, std::int32_t b) {
                       const float u = heads(a, widest), v = heads(b, widest);
                       return u < v || (u == v && a < b);
                     });
    self(self, begin, half);
    self(self, half, end);
  };
  halve(halve, 0, k_);
  for (index_t q = 0; q < k_; q += head_group)
    std::sort(number_.begin() + q, number_.begin() + std::min(k_, q + head_group));
  number_.resize(at(groups_ * head_group), -1);
  place_.resize(at(k_));
  for (index_t q = 0; q < k_; ++q) place_[at(number_[at(q)])] = static_cast<std::int32_t>(q);
  ordered_ = true;
}

void Pruning::forget() {
  std::fill(upper_.begin(), upper_.end(), no_bound);
  std::fill(bounds_.begin(), bounds_.end(), std::uint16_t{0});
}

void Pruning::round_whole(const Context& ctx, const assign_cpu::AssignKernels& kernels,
                          const std::vector<double>& square) {
  whole_columns_ = (d_ + 63) / 64 * 64;
  whole_.resize(at(k_ * whole_columns_));
  for (auto* of_centroid : {&whole_unit_, &whole_error_, &whole_norm_}) of_centroid->resize(at(k_));
  parallel_ranges(ctx.thread_count(), k_, [&](index_t begin, index_t end) {
    std::vector<float> row(at(whole_columns_));
    std::vector<std::int8_t> bytes(at(whole_columns_));
    for (index_t m = begin; m < end; ++m) {
      for (index_t j = 0; j < d_; ++j) row[at(j)] = static_cast<float>(scaled_(m, j));
      const double norm = std::sqrt(square[at(m)]);
      const Bytes all = assign_detail::round_to_bytes(kernels.pruning, row.data(), whole_columns_, norm, bytes.data());
      std::transform(bytes.begin(), bytes.end(), whole_.begin() + m * whole_columns_,
                     [&](std::int8_t byte) { return static_cast<std::uint8_t>(byte + kernels.pruning.offset); });
      whole_unit_[at(m)] = static_cast<float>(all.unit);
      whole_error_[at(m)] = float_above(all.error + 0x1p-23 * norm);
      whole_norm_[at(m)] = float_above(norm);
    }
  });
}

void Pruning::begin_pass(const Context& ctx, HostView<const double> centroids) {
  expects(centroids.rows() == k_ && centroids.cols() == d_, "pruning: the centroids have another shape");
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(ctx.simd);
  const bool held = serves_ && !copies_ && scaled_.rows() == k_;
  serves_ = assign_detail::scoring_scale(centroids, moments_) == scale_;
  if (!serves_) return scaled_ = {}, forget();

  Matrix<double> scaled = assign_detail::scaled_centroids(ctx, centroids, moments_, scale_);
  Matrix<float> narrow(k_, d_), heads(k_, columns_);
  std::vector<double> square(at(k_));
  parallel_for(ctx.thread_count(), k_, [&](index_t m) {
    for (index_t j = 0; j < d_; ++j)
      narrow(m, j) = static_cast<float>(scaled(m, j)), square[at(m)] += scaled(m, j) * scaled(m, j);
  });
  if (!ordered_) {
    tsmm(ctx, Op::none, 1.0F, narrow.cview(), unmixed_.cview(), 0.0F, heads.view());
    order_centroids(heads);
    unmixed_ = {};
  }
  tsmm(ctx, Op::none, 1.0F, narrow.cview(), axes_.cview(), 0.0F, heads.view());
  moved_.assign(at(k_), 0), group_moved_.assign(at(groups_), 0);
  if (held) {
    moved_ = assign_detail::steps_between(ctx, scaled_.cview(), scaled.cview());
    for (index_t m = 0; m < k_; ++m) {
      float& of_group = group_moved_[at(place_[at(m)] / head_group)];
      of_group = std::max(of_group, moved_[at(m)]);
    }
  } else {
    forget();
  }
  scaled_ = std::move(scaled);

  round_whole(ctx, kernels, square);
  const std::vector<bool> copy = assign_detail::copies(centroids);
  copies_ = std::find(copy.begin(), copy.end(), true) != copy.end();
  groups_of_heads_ = GroupsOfBytes(kernels.pruning, k_, columns_);
  std::vector<Norms> norms(at(k_), Norms(0, 0, 0, 0, 0));
  parallel_ranges(ctx.thread_count(), k_, [&](index_t begin, index_t end) {
    std::vector<std::int8_t> bytes(at(columns_));
    for (index_t m = begin; m < end; ++m) {
      double computed = 0;
      for (index_t a = 0; a < columns_; ++a)
        computed += static_cast<double>(heads(m, a)) * static_cast<double>(heads(m, a));
      const Bytes of =
          assign_detail::round_to_bytes(kernels.pruning, &heads(m, 0), columns_, std::sqrt(computed), bytes.data());
      groups_of_heads_.put(kernels.pruning, place_[at(m)], bytes.data(), of.unit);
      norms[at(m)] = Norms(of.norm, of.error, std::sqrt(computed), square[at(m)], rounding_);
    }
  });
  double head = 0, error = 0, tail = 0;
  largest_norm_ = 0, largest_radius_ = 0;
  for (index_t m = 0; m < k_; ++m) {
    head += norms[at(m)].head / static_cast<double>(k_), error += norms[at(m)].error / static_cast<double>(k_);
    tail += norms[at(m)].tail / static_cast<double>(k_);
    largest_norm_ = std::max(largest_norm_, std::sqrt(square[at(m)]));
  }
  of_head_ = weight_for(typical_head_, typical_tail_, error, tail);
  of_error_ = weight_for(typical_error_, typical_tail_, head, tail);
  for (index_t m = 0; m < k_; ++m) {
    const Norms& of = norms[at(m)];
    const double both = of.head + of.error;
    const double radius =
        std::sqrt(of.error * of.error / of_head_ + both * both / of_error_ + of.tail * of.tail) * a_little_more;
    const std::size_t place = at(place_[at(m)]);
    groups_of_heads_.radius[place] = float_above(radius);
    groups_of_heads_.half_norms[place] = copy[at(m)] ? no_bound : static_cast<float>(square[at(m)] / 2);
    largest_radius_ = std::max(largest_radius_, radius);
  }
}

}  // namespace ts::inline v0
