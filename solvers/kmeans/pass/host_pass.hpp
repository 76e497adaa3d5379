// Passes over rows in host memory. Internal to the room.
#pragma once

#include <optional>

#include "tallskinny/solvers/kmeans/pass/assign.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moved_rows.hpp"

namespace ts::inline v0::assign_detail {

/// Row i gets the label `nearest`. move(label before, weight) is called where sums have to follow.
template <class Move>
void relabel(const AssignArguments& of, index_t i, std::int32_t nearest, AssignStats& stats, const Move& move) {
  std::int32_t& label = of.labels.data[i];
  if (label == nearest) return;
  ++stats.changed;
  const double weight = of.weights.empty() ? 1.0 : of.weights.data[i];
  if (of.sums != nullptr && weight != 0) move(label, weight);
  label = nearest;
}

/// Division of a pass P into pieces: run_pass() calls pass.piece(first row, count, scratch) for pieces of `rows` rows,
/// each of which takes so many products.
struct Pieces {
  index_t rows;
  double products_of_row;
  index_t first = 0;
};
/// Runs a pass on all threads. Where rows move from sum to sum immediately, scratch.sums are those of the thread.
template <class P>
AssignStats run_pass(const Context& ctx, const AssignArguments& of, const P& pass, const Pieces& by,
                     std::string_view scorer, PassFilter filter = PassFilter::none) {
  const index_t n = of.x.rows() - by.first, pieces = (n + by.rows - 1) / by.rows;
  const int team = team_size(ctx, pieces, by.products_of_row * static_cast<double>(by.rows));
  AssignStats stats;
  for (const auto& s : for_each_piece(team, pass, pieces, of.sums, [&](index_t p, ClusterSums*own, auto&scratch) {
         if constexpr (requires { scratch.sums; }) scratch.sums = own;
         pass.piece(by.first + p * by.rows, std::min(by.rows, n - p * by.rows), scratch);
       }))
    stats += s.stats;
  stats.filter = filter, stats.scorer = scorer;
  return stats;
}

// The arguments were checked. S: double for Scores::float64, float for all others.
template <class S>
AssignStats assign_dense(const Context& ctx, const AssignArguments& of);
/// For Scores::int8, every row against every centroid in 8 bits first; nothing where that would not pay.
std::optional<AssignStats> assign_bytes(const Context& ctx, const AssignArguments& of);
/// Scores only candidates that GroupBounds leave; they must have been made for these rows.
AssignStats assign_by_groups(const Context& ctx, const AssignArguments& of);
/// Dense rows of one column, without bounds.
AssignStats assign_line(const Context& ctx, const AssignArguments& of);
template <class S>
AssignStats assign_sparse(const Context& ctx, const AssignArguments& of);
/// Every row against every centroid in long double: slow, plain, and what the others are tested against.
AssignStats assign_reference(const AssignArguments& of);

}  // namespace ts::inline v0::assign_detail
