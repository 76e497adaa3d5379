#include "tallskinny/gemm/assign/scores/pairs.hpp"
#include "tallskinny/gemm/assign/scores/pruned_pass.hpp"

namespace ts::inline v0::assign_detail {

template <class S>
AssignStats assign_dense(const Context& ctx, const AssignArguments& of) {
  if constexpr (std::is_same_v<S, float>)
    if (of.pruning.all != nullptr && of.pruning.all->serves()) {
      expects(of.pruning.all->rows() >= of.pruning.first + of.x.rows() && of.pruning.first % head_piece == 0,
              "assign: pruning belongs to other rows");
      return run_pieces<PrunedPass>(ctx, of);
    }
  if constexpr (std::is_same_v<S, float>)
    if (of.pruning.pairs != nullptr && of.pruning.pairs->serves()) return assign_pairs(ctx, of);
  if constexpr (std::is_same_v<S, float>)
    if (const auto stats = assign_bytes(ctx, of)) return *stats;
  const DensePass<S> pass(ctx, of.x, of.moments, of.centroids, of.scores);
  const Pass to(of);
  const index_t n = of.x.rows(), piece = pass.piece_rows(), pieces = (n + piece - 1) / piece;
  const int team =
      team_size(ctx, pieces, static_cast<double>(piece * of.x.cols()) * static_cast<double>(of.centroids.rows()));
  return stats_of(for_each_piece(team, pass, pieces, of.sums, [&](index_t p, ClusterSums* own, auto& scratch) {
    pass.piece(p * piece, std::min(piece, n - p * piece), to, own, scratch);
  }));
}

template AssignStats assign_dense<float>(const Context&, const AssignArguments&);
template AssignStats assign_dense<double>(const Context&, const AssignArguments&);

}  // namespace ts::inline v0::assign_detail
