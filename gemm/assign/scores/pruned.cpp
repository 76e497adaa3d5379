#include "tallskinny/gemm/assign/scores/once_pass.hpp"
#include "tallskinny/gemm/assign/sums/team.hpp"

namespace ts::inline v0::assign_detail {

namespace {

template <class P>
AssignStats run_pruned(const Context& ctx, const AssignArguments& of) {
  const P pass(ctx, of);
  const Pass to(of);
  const index_t pieces = (of.x.rows() + head_piece - 1) / head_piece;
  const int team = team_size(ctx, pieces, static_cast<double>(head_piece * of.x.cols() * of.centroids.rows()) / 8);
  return stats_of(for_each_piece(team, pass, pieces, of.sums,
                                 [&](index_t p, ClusterSums* own, auto& scratch) { pass.piece(p, to, own, scratch); }));
}

}  // namespace

AssignStats assign_pruned(const Context& ctx, const AssignArguments& of) {
  expects(of.pruning.all->rows() >= of.pruning.first + of.x.rows() && of.pruning.first % head_piece == 0,
          "assign: pruning belongs to other rows");
  return of.pruning.all->once() ? run_pruned<OncePass>(ctx, of) : run_pruned<PrunedPass>(ctx, of);
}

}  // namespace ts::inline v0::assign_detail
