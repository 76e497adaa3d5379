#include "tallskinny/solvers/kmeans/pass/scorer/bytes_pass.hpp"

#include "tallskinny/solvers/kmeans/pass/sums/team.hpp"

namespace ts::inline v0::assign_detail {

namespace {

constexpr index_t least_centroids = 64, trial_pieces = 8, least_pieces_for_trial = 64;

}  // namespace

std::optional<AssignStats> assign_bytes(const Context& ctx, const AssignArguments& of) {
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(ctx.simd);
  const index_t d = of.x.cols(), pieces = (of.x.rows() + head_piece - 1) / head_piece;
  if (of.scores != Scores::int8 || kernels.pruning.rows == 0 || d < least_columns_of_int8 ||
      d > most_columns_of_bytes || of.centroids.rows() < least_centroids ||
      (of.bounds.all != nullptr && of.bounds.all->hold()))
    return std::nullopt;
  const BytesPass pass(ctx, of);
  const Pass to(of);
  AssignStats first;
  index_t done = 0;
  if (pieces >= least_pieces_for_trial) {
    BytesPass::Scratch s = pass.scratch();
    for (; done < trial_pieces; ++done) pass.piece(done, to, of.sums, s);
    pass.move_now(of.sums, s);
    first = s.stats;
    if (!pass.pays(s, trial_pieces * head_piece)) {
      const index_t from = trial_pieces * head_piece, rest = of.x.rows() - from;
      const Rows others = of.x.block(from, rest);
      AssignArguments arguments{others, of.moments, of.centroids, Scores::int16, of.labels.part(from, rest)};
      arguments.weights = of.weights.part(from, rest), arguments.unit = of.unit, arguments.sums = of.sums;
      arguments.bounds = {of.bounds.all, of.bounds.first + from};
      return first += assign_dense<float>(ctx, arguments);
    }
  }
  const int team = team_size(ctx, pieces - done, static_cast<double>(head_piece * d * of.centroids.rows()));
  return first += stats_of(for_each_piece(team, pass, pieces - done, of.sums,
                                          [&](index_t p, ClusterSums* own, auto& scratch) {
                                            pass.piece(done + p, to, own, scratch);
                                          }),
                           "int8");
}

}  // namespace ts::inline v0::assign_detail
