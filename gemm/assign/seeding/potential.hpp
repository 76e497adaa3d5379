// What k-means++ and k-means|| ask of the rows: the squared distance D_i^2 of each to the nearest of the
// centres so far, and draws in proportion to w_i D_i^2. On a device all of this runs there and waits for its
// end.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tallskinny/gemm/assign/scores/assign.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/core/philox.hpp"

namespace ts::inline v0 {

/// The coordinates in which distances are kept, (x - shift) scale, so that float32 holds any of them.
struct SeedingUnit {
  const ColumnMoments& moments;
  double scale = 1;

  /// These rows, k x d, in the coordinates.
  [[nodiscard]] Matrix<double> of(const Context& ctx, HostView<const double> rows) const;
};

/// What lower_potential() is given. S: float or double.
template <class S>
struct PotentialArguments {
  const Rows& x;
  const SeedingUnit& unit;
  HostView<const double> candidates;
  PerRow<S> squared;                   ///< n entries, in and out
  PerRow<const double> weights;        ///< n entries or none
  std::span<double> totals;            ///< one for each chunk
  PerRow<std::int32_t> nearest = {};   ///< n entries or none: where D_i^2 falls, the number of the candidate
  std::int32_t first_number = 0;       ///< that of the first candidate
  PerRow<std::int32_t> labels = {};    ///< n numbers that are overwritten, on a device; none: of its own
  std::span<const index_t> rows = {};  ///< the candidates are these rows of x, and `candidates` is none
};
/// D_i^2 = min(D_i^2, distance to the nearest candidate); totals[c] = sum of w_i D_i^2 over chunk c (of chunk_rows).
/// Bits do not depend on threads, and on a device repeat.
template <class S>
void lower_potential(const Context& ctx, const PotentialArguments<S>& of);

/// totals(c, q): what totals[c] would be after lowering by candidate q alone.
template <class S>
void potential_with(const Context& ctx, const Rows& x, const SeedingUnit& unit, HostView<const double> candidates,
                    PerRow<const S> squared, PerRow<const double> weights, HostView<double> totals);

/// A draw: begins at this row, the first of a chunk, and passes `rest` in the running sum of w D^2.
struct SeedingDraw {
  index_t first = 0;
  double rest = 0;
};
/// The row in each draw's chunk at which the running sum passes: one with w D^2 > 0, of which there must be
/// one.
template <class S>
[[nodiscard]] std::vector<index_t> draw_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights,
                                             std::span<const SeedingDraw> draws);

/// The rows i, in order, for which the random number uniform(first_row + i) < factor w_i D_i^2.
template <class S>
[[nodiscard]] std::vector<index_t> keep_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights,
                                             double factor, const Philox& random, index_t first_row = 0);

/// How greedy k-means++ goes on: at most `most` choices, each the best of `trials` draws, while sum_i w_i
/// D_i^2 is above `enough`. The draws of choice s take the random numbers first_number + s trials and
/// following.
struct Choosing {
  index_t trials = 1, most = 0;
  double enough = 0;
  Philox random;
  std::uint64_t first_number = 0;
  /// Called now and then with how many choices are made; what it throws ends them.
  std::function<void(index_t)> chosen = {};
};
struct ChosenRows {
  std::vector<index_t> rows;
  double left = 0;  ///< sum_i w_i D_i^2 with these
};
/// Whether choose_rows() does it: for dense rows in host memory, and on a device for few trials of rows that are not
/// too wide.
[[nodiscard]] bool can_choose(const Context& ctx, const Rows& x, const Choosing& how);
/// All these choices (Arthur, Vassilvitskii 2007, greedy) at once where the rows are, which on a device are best few
/// enough for its caches. D_i^2 is lowered as by lower_potential(). In host memory draws take more random numbers, up
/// to 2^24 from first_number 2^24 on.
template <class S>
[[nodiscard]] ChosenRows choose_rows(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<S> squared,
                                     PerRow<const double> weights, const Choosing& how);

/// How often each of `count` numbers is among `numbers`, all of which are less.
[[nodiscard]] std::vector<std::uint64_t> count_numbers(const Context& ctx, PerRow<const std::int32_t> numbers,
                                                       index_t count);

/// On a device, the candidates with the last one repeated up to one of few numbers, since kernels of assign()
/// are compiled for a number of centroids; a copy is never the nearest. On the host, as they are.
[[nodiscard]] index_t with_copies(index_t candidates);
[[nodiscard]] Matrix<double> with_copies(const Context& ctx, HostView<const double> candidates, Space space);

/// Rows of x, in any order, in float64.
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out);
/// The same in S, contiguous where the rows are.
template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<S> out);
/// The same of rows on a device, in the coordinates of distances.
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<double> out,
                 const SeedingUnit& unit);

}  // namespace ts::inline v0
