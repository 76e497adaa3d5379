#include "tallskinny/gemm/assign/potential.hpp"

#include <algorithm>
#include <bit>

#include "tallskinny/gemm/assign/assign_detail.hpp"
#include "tallskinny/gemm/assign/cuda/potential_device.hpp"
#include "tallskinny/gemm/assign/team_detail.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts {

namespace {

using assign_detail::chunk_count;

constexpr index_t block_rows = 64 * chunk_rows;  ///< whose distances to all candidates are held at a time

/// Small problems stay on one thread.
int team_for(const Context& ctx, index_t rows) noexcept {
  return static_cast<int>(std::clamp<index_t>(rows / (8 * chunk_rows), 1, ctx.thread_count()));
}

double weight_of(PerRow<const double> weights, index_t i) noexcept {
  return weights.empty() ? 1.0 : weights.data[i];
}

/// use(first row, distances (candidates x rows of this block)) for every block.
template <class S, class Use>
void for_blocks(const Context& ctx, const Rows& x, const SeedingUnit& unit, HostView<const double> candidates,
                Use&& use) {
  Matrix<S> found(candidates.rows(), std::min(x.rows(), block_rows));
  for (index_t i = 0; i < x.rows(); i += block_rows) {
    const index_t count = std::min(block_rows, x.rows() - i);
    const auto out = found.view().block(0, 0, candidates.rows(), count);
    candidate_squared_distances<S>(ctx, x.block(i, count), unit.moments, unit.scale, candidates, out);
    use(i, out);
  }
}

template <class S>
void expect_potential(const Rows& x, HostView<const double> candidates, PerRow<const S> squared,
                      PerRow<const double> weights, index_t totals) {
  expects(candidates.cols() == x.cols(), "the candidates have another number of columns than the rows");
  assign_detail::expect_per_row(x, squared, "squared distances");
  if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
  expects(totals == chunk_count(x.rows()), "there must be one total for each chunk of rows");
}

}  // namespace

template <class S>
void lower_potential(const Context& ctx, const Rows& x, const SeedingUnit& unit,
                     HostView<const double> candidates, PerRow<S> squared, PerRow<const double> weights,
                     std::span<double> totals) {
  expect_potential<S>(x, candidates, squared, weights, static_cast<index_t>(totals.size()));
  if (x.on_device())
    return assign_device::lower_potential<S>(ctx, x, unit, candidates, squared, weights, totals);
  constexpr index_t at_once = 32;  // candidates in one pass
  [[maybe_unused]] const int team = team_for(ctx, x.rows());
  for (index_t c = 0; c < candidates.rows(); c += at_once)
    for_blocks<S>(ctx, x, unit, candidates.rows(c, std::min(at_once, candidates.rows() - c)),
                  [&](index_t i0, HostView<S> found) {
#pragma omp parallel for schedule(static) num_threads(team)
                    for (index_t i = 0; i < found.cols(); ++i) {
                      S& least = squared.data[i0 + i];
                      for (index_t q = 0; q < found.rows(); ++q) least = std::min(least, found(q, i));
                    }
                  });
#pragma omp parallel for schedule(static) num_threads(team)
  for (index_t c = 0; c < chunk_count(x.rows()); ++c) {
    double sum = 0;
    for (index_t i = c * chunk_rows; i < std::min(x.rows(), (c + 1) * chunk_rows); ++i)
      sum += weight_of(weights, i) * static_cast<double>(squared.data[i]);
    totals[static_cast<std::size_t>(c)] = sum;
  }
}

template <class S>
void potential_with(const Context& ctx, const Rows& x, const SeedingUnit& unit,
                    HostView<const double> candidates, PerRow<const S> squared, PerRow<const double> weights,
                    HostView<double> totals) {
  expect_potential<S>(x, candidates, squared, weights, totals.rows());
  expects(totals.cols() == candidates.rows(), "there must be a column of totals for each candidate");
  if (x.on_device())
    return assign_device::potential_with<S>(ctx, x, unit, candidates, squared, weights, totals);
  [[maybe_unused]] const int team = team_for(ctx, x.rows());
  for_blocks<S>(ctx, x, unit, candidates, [&](index_t i0, HostView<S> found) {
#pragma omp parallel for schedule(static) num_threads(team)
    for (index_t c = 0; c < chunk_count(found.cols()); ++c)
      for (index_t q = 0; q < found.rows(); ++q) {
        const S* to_candidate = found.data() + q * found.ld();
        double sum[4] = {};
        const index_t first = c * chunk_rows, last = std::min(found.cols(), first + chunk_rows);
        for (index_t i = first; i < last; ++i) {
          const S least = std::min(squared.data[i0 + i], to_candidate[i]);
          sum[i % 4] += weight_of(weights, i0 + i) * static_cast<double>(least);
        }
        totals(i0 / chunk_rows + c, q) = (sum[0] + sum[1]) + (sum[2] + sum[3]);
      }
  });
}

template <class S>
std::vector<index_t> draw_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights,
                               std::span<const SeedingDraw> draws) {
  if (squared.space == Space::device) return assign_device::draw_rows<S>(ctx, squared, weights, draws);
  std::vector<index_t> rows;
  for (const SeedingDraw& draw : draws) {
    double rest = draw.rest;
    index_t last = draw.first;  // rounding may carry past the end: then the last row that can be drawn is
    for (index_t i = draw.first; i < std::min(squared.size, draw.first + chunk_rows); ++i) {
      const double value = weight_of(weights, i) * static_cast<double>(squared.data[i]);
      if (value <= 0) continue;
      last = i;
      rest -= value;
      if (rest < 0) break;
    }
    rows.push_back(last);
  }
  return rows;
}

template <class S>
std::vector<index_t> keep_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights,
                               double factor, const Philox& random) {
  if (squared.space == Space::device)
    return assign_device::keep_rows<S>(ctx, squared, weights, factor, random);
  constexpr index_t chunk = index_t{1} << 16;
  std::vector<std::vector<index_t>> parts(static_cast<std::size_t>((squared.size + chunk - 1) / chunk));
  [[maybe_unused]] const int team = team_for(ctx, squared.size);
#pragma omp parallel for schedule(static) num_threads(team)
  for (index_t c = 0; c < std::ssize(parts); ++c)
    for (index_t i = c * chunk; i < std::min(squared.size, (c + 1) * chunk); ++i) {
      const double probability = factor * (weight_of(weights, i) * static_cast<double>(squared.data[i]));
      if (probability > 0 && random.uniform(static_cast<std::uint64_t>(i)) < probability)
        parts[static_cast<std::size_t>(c)].push_back(i);
    }
  std::vector<index_t> rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

Matrix<double> with_copies(HostView<const double> candidates, Space space) {
  const index_t count = candidates.rows();
  if (space == Space::host || count <= 8) return Matrix<double>::copy_of(candidates);
  // Four numbers between a power of two and the next.
  const auto step = static_cast<index_t>(std::bit_floor(static_cast<std::uint64_t>(count)) / 4);
  Matrix<double> out((count + step - 1) / step * step, candidates.cols());
  for (index_t q = 0; q < out.rows(); ++q)
    for (index_t j = 0; j < out.cols(); ++j) out(q, j) = candidates(std::min(q, count - 1), j);
  return out;
}

void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out) {
  expects(out.rows() == std::ssize(numbers) && out.cols() == x.cols(),
          "gathered rows need room for each of them");
  expects(std::all_of(numbers.begin(), numbers.end(), [&](index_t i) { return i >= 0 && i < x.rows(); }),
          "a row to gather is outside of the matrix");
  if (x.on_device()) return assign_device::gather_rows(ctx, x, numbers, out);
  for (index_t q = 0; q < out.rows(); ++q)
    x.load(numbers[static_cast<std::size_t>(q)], out.data() + q * out.ld());
}

#define TS_INSTANTIATE(S)                                                                                   \
  template void lower_potential<S>(const Context&, const Rows&, const SeedingUnit&, HostView<const double>, \
                                   PerRow<S>, PerRow<const double>, std::span<double>);                     \
  template void potential_with<S>(const Context&, const Rows&, const SeedingUnit&, HostView<const double>,  \
                                  PerRow<const S>, PerRow<const double>, HostView<double>);                 \
  template std::vector<index_t> draw_rows<S>(const Context&, PerRow<const S>, PerRow<const double>,         \
                                             std::span<const SeedingDraw>);                                 \
  template std::vector<index_t> keep_rows<S>(const Context&, PerRow<const S>, PerRow<const double>, double, \
                                             const Philox&);
TS_INSTANTIATE(float)
TS_INSTANTIATE(double)
#undef TS_INSTANTIATE

}  // namespace ts
