#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/policy.hpp"

namespace ts::inline v0::assign_device {

namespace {

using assign_detail::chunk_count;

using cuda::MomentsRound;

/// Chunks of rows leave these for each column, chunks x columns: the largest |x - shift|, the sum of (x - mean)^2.
struct ChunkSpread {
  Matrix<double> max_abs, squares;
};

void launch_moments(const Context& ctx, const Rows& x, MomentsRound round, const double* shift, const double* mean,
                    double* out, cuda::word64* first) {
  const index_t d = x.cols();
  launch_threads(ctx, "assign_moments", cuda::MomentsPolicy{x.type(), round}, chunk_count(x.rows()) * d,
                 {argument_of(x), static_cast<int>(d), chunk_rows, shift, mean, out, first});
}

void fetch_matrix(const Context& ctx, Matrix<double>& to, const double* from) {
  fetch_numbers(ctx, std::span(to.data(), at(to.rows() * to.cols())), from);
}

Matrix<double> chunk_sums(const Context& ctx, const Rows& x) {
  auto sums = Matrix<double>::zeros(chunk_count(x.rows()), x.cols());  // rehearsals leave it as it is
  if (x.rows() == 0 || x.cols() == 0) return sums;
  Workspace w;
  const std::size_t out = w.reserve<double>(sums.rows() * sums.cols());
  w.get(ctx.stream);
  launch_moments(ctx, x, MomentsRound::sum, nullptr, nullptr, w.at<double>(out), nullptr);
  fetch_matrix(ctx, sums, w.at<double>(out));
  return sums;
}

ChunkSpread chunk_spread(const Context& ctx, const Rows& x, const ColumnMoments& moments) {
  const index_t chunks = chunk_count(x.rows()), d = x.cols();
  ChunkSpread spread{Matrix<double>::zeros(chunks, d), Matrix<double>::zeros(chunks, d)};
  if (x.rows() == 0 || d == 0) return spread;
  Upload upload(ctx, 2 * d);
  upload.add(moments.shift);
  upload.add(moments.mean);
  Workspace w;
  const std::size_t sent = w.reserve<double>(upload.size()), out = w.reserve<double>(2 * chunks * d);
  w.get(ctx.stream);
  upload.send(w.at<double>(sent));
  launch_moments(ctx, x, MomentsRound::spread, w.at<double>(sent), w.at<double>(sent) + d, w.at<double>(out), nullptr);
  fetch_matrix(ctx, spread.max_abs, w.at<double>(out));
  fetch_matrix(ctx, spread.squares, w.at<double>(out) + chunks * d);
  return spread;
}

std::pair<index_t, index_t> first_not_finite(const Context& ctx, const Rows& x) {
  if (x.rows() == 0 || x.cols() == 0) return {-1, -1};
  Workspace w;
  const std::size_t place = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<char>(place), 0xff, sizeof(std::uint64_t));
  launch_moments(ctx, x, MomentsRound::first_not_finite, nullptr, nullptr, nullptr, w.at<cuda::word64>(place));
  const auto first = fetch_number(ctx, w.at<std::uint64_t>(place));
  if (first == std::numeric_limits<std::uint64_t>::max()) return {-1, -1};
  return {static_cast<index_t>(first) / x.cols(), static_cast<index_t>(first) % x.cols()};
}

}  // namespace

}  // namespace ts::inline v0::assign_device

namespace ts::inline v0 {

namespace {

using assign_detail::chunk_count;
using assign_device::ChunkSpread;

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

/// use(kernels, chunk, its first row, rows) for every chunk, in parallel.
template <class Use>
void for_each_chunk(const Context& ctx, const Rows& x, const Use& use) {
  const index_t chunks = chunk_count(x.rows());
  const auto& kernels = assign_cpu::select(ctx.simd);
  parallel_pieces(
      assign_detail::team_size(ctx, chunks, static_cast<double>(chunk_rows * x.cols())), chunks,
      [&](index_t c, int) { use(kernels, c, c * chunk_rows, std::min(chunk_rows, x.rows() - c * chunk_rows)); });
}

/// The sum of each column of each chunk.
Matrix<double> chunk_sums(const Context& ctx, const Rows& x) {
  auto partial = Matrix<double>::zeros(chunk_count(x.rows()), x.cols());
  for_each_chunk(ctx, x, [&](const auto& kernels, index_t c, index_t first, index_t count) {
    kernels.add(x, first, count, &partial(c, 0));
  });
  return partial;
}

/// The largest |x - shift| and the sum of (x - mean)^2 of each column of each chunk.
ChunkSpread chunk_spread(const Context& ctx, const Rows& x, const ColumnMoments& m) {
  const index_t d = x.cols(), chunks = chunk_count(x.rows());
  ChunkSpread spread{Matrix<double>::zeros(chunks, d), Matrix<double>::zeros(chunks, d)};
  for_each_chunk(ctx, x, [&](const auto& kernels, index_t c, index_t first, index_t count) {
    kernels.spread(x, first, count, m.shift.data(), m.mean.data(), &spread.max_abs(c, 0), &spread.squares(c, 0));
  });
  return spread;
}

ChunkSpread spread_of_chunks(const Context& ctx, const Rows& x, const ColumnMoments& m) {
  return x.on_device() ? assign_device::chunk_spread(ctx, x, m) : chunk_spread(ctx, x, m);
}

/// Squares are added to the variance.
void add_spread(ColumnMoments& m, const Matrix<double>& max_abs, const Matrix<double>& squares) {
  for (index_t c = 0; c < max_abs.rows(); ++c)
    for (index_t j = 0; j < max_abs.cols(); ++j) {
      const auto place = at(j);
      m.max_abs[place] = std::max(m.max_abs[place], max_abs(c, j));
      m.variance[place] += squares(c, j);
    }
}

bool all_finite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
}

/// use(column, value) for every stored entry of sparse rows, in order.
template <class Use>
void for_each_entry(const Rows& x, Use&& use) {
  std::vector<double> row;
  for (index_t i = 0; i < x.rows(); ++i) {
    row.resize(at(x.entries(i)));
    x.load_entries(i, row.data());
    for (std::size_t p = 0; p < row.size(); ++p)
      use(at(x.indices()[x.pointers()[i] + static_cast<index_t>(p)]), row[p]);
  }
}

}  // namespace

MomentsOfBlocks::MomentsOfBlocks(index_t cols, index_t first_row) : first_row_(first_row) {
  const auto d = at(cols);
  moments_ = {std::vector<double>(d), std::vector<double>(d), std::vector<double>(d), std::vector<double>(d)};
  stored_.resize(d);
}

void MomentsOfBlocks::add_sums(const Matrix<double>& of_chunks) {
  for (index_t c = 0; c < of_chunks.rows(); ++c)
    for (index_t j = 0; j < of_chunks.cols(); ++j) moments_.mean[at(j)] += of_chunks(c, j);
}

void MomentsOfBlocks::add_entries(const Rows& x) {
  ColumnMoments& m = moments_;
  for_each_entry(x, [&](std::size_t j, double value) {
    finite_ = finite_ && std::isfinite(value);
    m.mean[j] += value;
    m.max_abs[j] = std::max(m.max_abs[j], std::abs(value));
    ++stored_[j];
  });
}

void MomentsOfBlocks::add_squares(const Rows& x) {
  ColumnMoments& m = moments_;
  for_each_entry(x, [&](std::size_t j, double value) { m.variance[j] += (value - m.mean[j]) * (value - m.mean[j]); });
}

void MomentsOfBlocks::first_round(const Context& ctx, const Rows& x) {
  const bool alone = ctx.communicator->size() == 1;
  if (x.rows() > 0) sparse_ = x.sparse();
  const index_t first = (alone ? first_row_ : first_row(ctx)) + rows_;
  rows_ += x.rows();
  if (x.sparse()) {
    if (alone) add_entries(x);
    if (alone ? !finite_ : first_not_finite(ctx, x).first >= 0) refuse(ctx, x, first);
    return;
  }
  Matrix<double> sums = x.on_device() ? assign_device::chunk_sums(ctx, x) : chunk_sums(ctx, x);
  if (alone) {
    add_sums(sums);
    finite_ = finite_ && all_finite(moments_.mean);
  } else {
    finite_ = finite_ && all_finite({sums.data(), at(sums.rows() * sums.cols())});
    waiting_.push_back(std::move(sums));
  }
  // Finite numbers can overflow their sum, so only the elements decide.
  if (!finite_ && first_not_finite(ctx, x).first >= 0) refuse(ctx, x, first);
}

void MomentsOfBlocks::between_rounds() {
  for (double& mean : moments_.mean) mean /= static_cast<double>(rows_);
  if (!sparse_) set_shift(moments_, finite_ ? 0 : std::numeric_limits<double>::max());
  second_ = true;
}

void MomentsOfBlocks::second_round(const Context& ctx, const Rows& x) {
  const bool alone = ctx.communicator->size() == 1;
  if (!second_) between_rounds();
  if (x.sparse()) {
    if (alone) add_squares(x);
    return;
  }
  ChunkSpread spread = spread_of_chunks(ctx, x, moments_);
  if (alone) return add_spread(moments_, spread.max_abs, spread.squares);
  waiting_.push_back(std::move(spread.max_abs));
  waiting_.push_back(std::move(spread.squares));
}

void MomentsOfBlocks::end_round(const Context& ctx, const Pass& again) {
  if (ctx.communicator->size() == 1) return;
  if (!second_) rows_here_ = rows_;
  ColumnMoments& m = moments_;
  // State that a rank hands to the next: four numbers of each column, rows, and flags for dense and sparse rows.
  const std::size_t d = stored_.size();
  std::vector<double> state(4 * d + 3);
  double* const totals = state.data() + 4 * d;
  const std::array<std::vector<double>*, 4> columns{&m.mean, &m.variance, &m.max_abs, &stored_};
  const auto leave = [&] {
    for (std::size_t part = 0; part < columns.size(); ++part)
      std::copy(columns[part]->begin(), columns[part]->end(), state.begin() + static_cast<std::ptrdiff_t>(part * d));
  };
  const auto take = [&] {
    for (std::size_t part = 0; part < columns.size(); ++part)
      std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(part * d), d, columns[part]->begin());
  };
  leave();
  in_turn(ctx, state, [&] {
    take();
    if (sparse_)
      again([this](const Rows& block) { second_ ? add_squares(block) : add_entries(block); });
    else if (!second_)
      for (const Matrix<double>& sums : waiting_) add_sums(sums);
    else
      for (std::size_t block = 0; block < waiting_.size(); block += 2)
        add_spread(m, waiting_[block], waiting_[block + 1]);
    leave();
    totals[0] += static_cast<double>(rows_here_);
    if (rows_here_ > 0) totals[sparse_ ? 2 : 1] = 1;
  });
  take();
  waiting_.clear();
  expects(totals[1] == 0 || totals[2] == 0,
          "some ranks have dense rows and others sparse ones: all must have the same");
  rows_ = static_cast<index_t>(totals[0]), sparse_ = totals[2] != 0;
  if (second_) return;
  finite_ = all_finite(m.mean);
  between_rounds();
}

ColumnMoments MomentsOfBlocks::finish() && {
  if (rows_ == 0) return std::move(moments_);
  const auto n = static_cast<double>(rows_);
  ColumnMoments& m = moments_;
  for (std::size_t j = 0; j < m.variance.size(); ++j) {
    if (sparse_) m.variance[j] += (n - stored_[j]) * m.mean[j] * m.mean[j];
    m.variance[j] /= n;
  }
  return std::move(moments_);
}

ColumnMoments column_moments(const Context& ctx, const Rows& x, index_t first_row) {
  MomentsOfBlocks moments(x.cols(), first_row);
  const Context one = alone(ctx);
  moments.first_round(one, x);
  moments.second_round(one, x);
  return std::move(moments).finish();
}

ColumnMoments moments_about(const Context& ctx, const Rows& x, std::span<const double> mean, index_t first_row) {
  if (x.sparse()) return column_moments(ctx, x, first_row);
  const std::size_t d = mean.size();
  ColumnMoments m{{mean.begin(), mean.end()}, std::vector<double>(d), std::vector<double>(d), std::vector<double>(d)};
  set_shift(m, 0);
  const ChunkSpread spread = spread_of_chunks(ctx, x, m);
  add_spread(m, spread.max_abs, spread.squares);
  if (!all_finite(m.variance) && first_not_finite(ctx, x).first >= 0) refuse(ctx, x, first_row);
  for (double& variance : m.variance) variance /= static_cast<double>(std::max<index_t>(1, x.rows()));
  return m;
}

}  // namespace ts::inline v0
