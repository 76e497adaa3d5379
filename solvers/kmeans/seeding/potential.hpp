// Steps of k-means++ and k-means|| over the rows: the squared distance D_i^2 of each to the nearest of the
// centres so far, and draws in proportion to w_i D_i^2. On a device everything runs there, and calls wait for its
// end.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/solvers/kmeans/pass/assign.hpp"

namespace ts::inline v0 {

/// Arguments of lower_potential(). Squared distances are direct differences in float64, added up in one order: the same
/// bits on a processor and a GPU.
struct PotentialArguments {
  const Rows& x;
  const ColumnMoments& moments;
  HostView<const double> candidates;
  PerRow<double> squared;              ///< n entries, in and out
  PerRow<const double> weights;        ///< n entries or none
  std::span<double> totals;            ///< one for each chunk
  PerRow<std::int32_t> nearest = {};   ///< n entries or none: where D_i^2 falls, the number of the candidate
  std::int32_t first_number = 0;       ///< that of the first candidate
  std::span<const index_t> rows = {};  ///< the candidates are these rows of x, and `candidates` is none
};
/// D_i^2 = min(D_i^2, distance to the nearest candidate); totals[c] = sum of w_i D_i^2 over chunk c (of chunk_rows).
/// Totals do not depend on threads, and on a device repeat. Candidates lie among rows with these moments.
void lower_potential(const Context& ctx, const PotentialArguments& of);

/// The rows i, in order, for which the random number uniform(first_row + i) < factor w_i D_i^2. Where squared.data is
/// null, D_i = 1 for all of them.
[[nodiscard]] std::vector<index_t> keep_rows(const Context& ctx, PerRow<const double> squared,
                                             PerRow<const double> weights, double factor, const Philox& random,
                                             index_t first_row = 0);

/// Choices of greedy k-means++: at most `most`, each the best of `trials` draws, while sum_i w_i D_i^2 is above
/// `enough`. Draws take up to 2^24 random numbers from first_number 2^24 on; first_number is that of the draws before.
struct Choosing {
  index_t trials = 1, most = 0;
  double enough = 0;
  Philox random;
  std::uint64_t first_number = 0;
  /// Called now and then with the number of choices made; an exception ends them.
  std::function<void(index_t)> report = {};
};
struct SeedRows {
  std::vector<index_t> rows;
  double left = 0;  ///< sum_i w_i D_i^2 with these
};
/// Greatest number of draws for a choice.
inline constexpr index_t most_trials = 16;
/// Makes all these choices (Arthur, Vassilvitskii 2007, greedy) in one call where the rows are. They are dense and less
/// than 2^31. D_i^2 is lowered as by lower_potential().
[[nodiscard]] SeedRows choose_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                                   PerRow<double> squared, PerRow<const double> weights, const Choosing& how);

/// Candidates filled up with copies of the last one, so that kernels are compiled for few numbers of centroids; a copy
/// is never the nearest.
[[nodiscard]] index_t with_copies(index_t candidates);

/// Rows of x, in any order, in float64.
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out);
/// Rows of x in S, float or double, in any order; the result is contiguous and lies where the rows are.
template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<S> out);
/// Rows of x on a device, as (x - shift) scale.
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<double> out,
                 std::span<const double> shift, double scale);

}  // namespace ts::inline v0
