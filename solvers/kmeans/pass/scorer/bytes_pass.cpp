#include "tallskinny/solvers/kmeans/pass/scorer/bytes_pass.hpp"

namespace ts::inline v0::assign_detail {

namespace {

constexpr index_t least_centroids = 64, trial_rows = 8 * piece_size, least_pieces_for_trial = 64;

}  // namespace

std::optional<AssignStats> assign_bytes(const Context& ctx, const AssignArguments& of) {
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(ctx.simd);
  const index_t d = of.x.cols(), pieces = (of.x.rows() + piece_size - 1) / piece_size;
  if (of.scores != Scores::int8 || kernels.pruning.rows == 0 || d < least_columns_of_int8 ||
      d > most_columns_of_bytes || of.centroids.rows() < least_centroids || of.bounds.hold())
    return std::nullopt;
  const BytesPass pass(ctx, of);
  AssignStats first;
  index_t from = 0;
  if (pieces >= least_pieces_for_trial) {
    BytesPass::Scratch s = pass.scratch();
    for (; from < trial_rows; from += piece_size) pass.piece(from, piece_size, s);
    pass.move_now(of.sums, s);
    first = s.stats;
    if (!pass.pays(s, trial_rows)) {
      const index_t rest = of.x.rows() - from;
      const Rows others = of.x.block(from, rest);
      AssignArguments arguments{others, of.moments, of.centroids, Scores::int16, of.labels.part(from, rest)};
      arguments.weights = of.weights.part(from, rest), arguments.unit = of.unit, arguments.sums = of.sums;
      arguments.bounds = {of.bounds.all, of.bounds.first + from};
      return first += assign_dense<float>(ctx, arguments);
    }
  }
  const double products = static_cast<double>(d * of.centroids.rows());
  return first += run_pass(ctx, of, pass, {piece_size, products, from}, "int8");
}

}  // namespace ts::inline v0::assign_detail
