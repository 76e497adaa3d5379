#include "tallskinny/gemm/assign/sums/moments.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tallskinny/gemm/assign/cpu/kernels.hpp"
#include "tallskinny/gemm/assign/sums/launch.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/cpu/rows.hpp"

namespace ts {

namespace {

using assign_detail::chunk_count;

std::pair<index_t, index_t> first_not_finite(const Context& ctx, const Rows& x) {
  return x.on_device() ? assign_device::first_not_finite(ctx, x) : x.first_not_finite(0, x.rows());
}

[[noreturn]] void refuse(const Context& ctx, const Rows& x, index_t first_row) {
  const auto [row, column] = first_not_finite(ctx, x);
  throw Error(Errc::invalid_argument, "the element in row " + std::to_string(first_row + row) + ", column " +
                                          std::to_string(column) + " (counted from 0) is NaN or infinite");
}

/// Beyond this, x - shift could overflow.
constexpr double largest_shifted = 0x1p1000;

void set_shift(ColumnMoments& m, double largest) {
  for (std::size_t j = 0; j < m.shift.size(); ++j) {
    // 24 bits suffice, and make x - shift exact for most data of low precision.
    const auto rounded = static_cast<double>(static_cast<float>(m.mean[j]));
    m.shift[j] = largest > largest_shifted || !std::isfinite(m.mean[j]) ? 0
                 : std::isfinite(rounded)                               ? rounded
                                                                        : m.mean[j];
  }
}

/// use(chunk, kernels, row in float64) for every row; chunks in parallel, the rows of one in order.
template <class Use>
void for_each_row(const Context& ctx, const Rows& x, const Use& use) {
  const index_t chunks = chunk_count(x.rows());
  const int team = assign_detail::team_size(ctx, chunks, static_cast<double>(chunk_rows * x.cols()));
  const auto& kernels = assign_cpu::select(ctx.simd);
  const std::vector<double> no_shift(static_cast<std::size_t>(x.cols()));
  cpu::Scratch<double> rows(team, x.cols());
  parallel_pieces(team, chunks, [&](index_t c, int thread) {
    for (index_t i = c * chunk_rows; i < std::min(x.rows(), (c + 1) * chunk_rows); ++i) {
      kernels.centred(x, i, no_shift.data(), rows.of(thread));
      use(c, kernels, rows.of(thread));
    }
  });
}

/// The sum of each column of each chunk.
Matrix<double> chunk_sums(const Context& ctx, const Rows& x) {
  const index_t d = x.cols();
  auto partial = Matrix<double>::zeros(chunk_count(x.rows()), d);
  for_each_row(ctx, x,
               [&](index_t c, const auto& kernels, const double* row) { kernels.add(row, d, partial.data() + c * d); });
  return partial;
}

/// The largest |x - shift| and the sum of (x - mean)^2 of each column of each chunk.
assign_device::ChunkSpread chunk_spread(const Context& ctx, const Rows& x, const ColumnMoments& m) {
  const index_t d = x.cols(), chunks = chunk_count(x.rows());
  assign_device::ChunkSpread spread{Matrix<double>::zeros(chunks, d), Matrix<double>::zeros(chunks, d)};
  for_each_row(ctx, x, [&](index_t c, const auto& kernels, const double* row) {
    kernels.spread(row, m.shift.data(), m.mean.data(), d, spread.reach.data() + c * d, spread.squares.data() + c * d);
  });
  return spread;
}

/// use(column, value) for every stored entry of sparse rows, in order.
template <class Use>
void for_each_entry(const Rows& x, Use&& use) {
  std::vector<double> row;
  for (index_t i = 0; i < x.rows(); ++i) {
    row.resize(static_cast<std::size_t>(x.entries(i)));
    x.load_entries(i, row.data());
    for (std::size_t p = 0; p < row.size(); ++p)
      use(static_cast<std::size_t>(x.indices()[x.pointers()[i] + static_cast<index_t>(p)]), row[p]);
  }
}

}  // namespace

MomentsOfBlocks::MomentsOfBlocks(index_t cols) {
  const auto d = static_cast<std::size_t>(cols);
  moments_ = {std::vector<double>(d), std::vector<double>(d), std::vector<double>(d), std::vector<double>(d)};
  stored_.resize(d);
}

void MomentsOfBlocks::first_round(const Context& ctx, const Rows& x) {
  ColumnMoments& m = moments_;
  sparse_ = x.sparse();
  if (x.sparse()) {
    bool finite = true;
    for_each_entry(x, [&](std::size_t j, double value) {
      finite = finite && std::isfinite(value);
      m.mean[j] += value;
      m.reach[j] = std::max(m.reach[j], std::abs(value));
      ++stored_[j];
    });
    if (!finite) refuse(ctx, x, rows_);
  } else {
    const Matrix<double> sums = x.on_device() ? assign_device::chunk_sums(ctx, x) : chunk_sums(ctx, x);
    for (index_t c = 0; c < sums.rows(); ++c)
      for (index_t j = 0; j < sums.cols(); ++j) m.mean[static_cast<std::size_t>(j)] += sums(c, j);
    for (const double sum : m.mean) finite_ = finite_ && std::isfinite(sum);
    // Finite numbers can overflow their sum, so only the elements decide.
    if (!finite_ && first_not_finite(ctx, x).first >= 0) refuse(ctx, x, rows_);
  }
  rows_ += x.rows();
}

void MomentsOfBlocks::between_rounds() {
  for (double& mean : moments_.mean) mean /= static_cast<double>(rows_);
  if (!sparse_) set_shift(moments_, finite_ ? 0 : std::numeric_limits<double>::max());
  second_ = true;
}

void MomentsOfBlocks::second_round(const Context& ctx, const Rows& x) {
  if (!second_) between_rounds();
  ColumnMoments& m = moments_;
  if (x.sparse()) {
    for_each_entry(x, [&](std::size_t j, double value) { m.variance[j] += (value - m.mean[j]) * (value - m.mean[j]); });
    return;
  }
  const auto spread = x.on_device() ? assign_device::chunk_spread(ctx, x, m) : chunk_spread(ctx, x, m);
  for (index_t c = 0; c < spread.reach.rows(); ++c)
    for (index_t j = 0; j < x.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      m.reach[at] = std::max(m.reach[at], spread.reach(c, j));
      m.variance[at] += spread.squares(c, j);
    }
}

ColumnMoments MomentsOfBlocks::finish() && {
  if (rows_ == 0) return std::move(moments_);
  const auto n = static_cast<double>(rows_);
  ColumnMoments& m = moments_;
  for (std::size_t j = 0; j < m.variance.size(); ++j) {
    if (sparse_) m.variance[j] += (n - static_cast<double>(stored_[j])) * m.mean[j] * m.mean[j];
    m.variance[j] /= n;
  }
  return std::move(moments_);
}

ColumnMoments column_moments(const Context& ctx, const Rows& x) {
  MomentsOfBlocks moments(x.cols());
  moments.first_round(ctx, x);
  moments.second_round(ctx, x);
  return std::move(moments).finish();
}

}  // namespace ts
