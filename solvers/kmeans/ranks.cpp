// Sums, minima and agreements over ranks, each of which has some of the rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

double KMeansProblem::total_weight() const {
  if (!weighted()) return static_cast<double>(all_rows());
  double sum = 0;
  in_turn(ctx, {&sum, 1}, [&] {
    for (const double weight : weights) sum += weight;
  });
  return sum;
}

index_t KMeansProblem::last_of_weight() const {
  index_t last = rows() - 1;
  while (last >= 0 && weight(last) == 0) --last;
  const double here = last < 0 ? 0 : static_cast<double>(first_row() + last);
  return static_cast<index_t>(max_of_ranks(ctx, here));
}

std::vector<index_t> KMeansProblem::here_of(std::span<const index_t> numbers) const {
  const index_t first = first_row(), count = rows();
  std::vector<index_t> here;
  for (const index_t i : numbers)
    if (i >= first && i < first + count) here.push_back(i - first);
  return here;
}

std::vector<double> KMeansProblem::weights_at(std::span<const index_t> numbers) const {
  if (!weighted()) return std::vector<double>(numbers.size(), 1.0);
  std::vector<double> here;
  for (const index_t i : here_of(numbers)) here.push_back(weight(i));
  return gather_from_owners(ctx, numbers, std::move(here));
}

index_t sum_of_ranks(const Context& ctx, index_t here) {
  auto sum = static_cast<std::uint64_t>(here);
  ctx.communicator->add({&sum, 1});
  return static_cast<index_t>(sum);
}

AssignStats sum_of_ranks(const Context& ctx, const AssignStats& here) {
  std::array<std::uint64_t, 5> sums{};
  const std::array<index_t, 5> counts{here.changed, here.rescored, here.skipped, here.coarse, here.scored};
  std::copy(counts.begin(), counts.end(), sums.begin());
  ctx.communicator->add(sums);
  const auto sum = [&](std::size_t q) { return static_cast<index_t>(sums[q]); };
  return {sum(0), sum(1), sum(2), sum(3), sum(4), here.filter, here.scorer};
}

void check_ranks(const Context& ctx, const RowSource& source) {
  const int ranks = ctx.communicator->size(), rank = ctx.communicator->rank();
  if (ranks == 1) return;
  const index_t n = all_rows(ctx, source.rows());
  for (int r = 0; r < ranks; ++r)
    if (const index_t begin = ctx.slabs.begin(r); begin % chunk_rows != 0 && begin != n)
      throw Error(Errc::invalid_argument, "k-means on several ranks: slabs of rows begin at multiples of " +
                                              std::to_string(chunk_rows) + " (RowSlabs::of_pieces), not at row " +
                                              std::to_string(begin));
  agreed(ctx, [&] {
    if (source.rows() != ctx.slabs.rows(rank))
      throw Error(Errc::invalid_argument, "k-means on several ranks: rank " + std::to_string(rank) + " has " +
                                              std::to_string(source.rows()) + " rows and a slab of " +
                                              std::to_string(ctx.slabs.rows(rank)));
  });
  const std::array<index_t, 3> kind{source.cols(), static_cast<index_t>(source.type()),
                                    static_cast<index_t>(source.space())};
  const std::vector<index_t> kinds = gather_lists<index_t>(ctx, kind);
  for (std::size_t q = 0; q < kinds.size(); ++q)
    expects(kinds[q] == kinds[q % kind.size()],
            "k-means on several ranks: all must have the same columns, element type and kind of memory");
}

void check_finite(const Context& ctx, const RowSource& source) {
  if (source.space() == Space::device) return;  // the moments, which are found next, refuse such numbers
  agreed(ctx,
         [&] { source.for_each_block([&](index_t first, const Rows& block) { check_finite(ctx, first, block); }); });
}

void check_finite(const Context& ctx, index_t first, const Rows& block) {
  const auto [row, column] = block.first_not_finite(0, block.rows());
  if (row >= 0)
    throw Error(Errc::invalid_argument, "the element in row " + std::to_string(first_row(ctx) + first + row) +
                                            ", column " + std::to_string(column) +
                                            " (counted from 0) is NaN or infinite");
}

bool check_weights(const Context& ctx, index_t rows, std::span<const double> weights) {
  if (!any_rank(ctx, !weights.empty())) return false;
  bool positive = false;
  agreed(ctx, [&] {
    if (static_cast<index_t>(weights.size()) != rows)
      throw Error(Errc::invalid_argument,
                  "there are " + std::to_string(weights.size()) + " weights for " + std::to_string(rows) + " points");
    const index_t first = first_row(ctx);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
        throw Error(Errc::invalid_argument, "the weight of point " + std::to_string(first + static_cast<index_t>(i)) +
                                                " (counted from 0) is negative, NaN or infinite");
      positive = positive || weights[i] > 0;
    }
  });
  expects(any_rank(ctx, positive), "all weights are zero: at least one point must have a positive weight");
  return true;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
