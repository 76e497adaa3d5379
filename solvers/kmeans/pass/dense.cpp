#include "tallskinny/solvers/kmeans/pass/filter/bounds_pass.hpp"

namespace ts::inline v0::assign_detail {

template <class S>
AssignStats assign_dense(const Context& ctx, const AssignArguments& of) {
  if constexpr (std::is_same_v<S, float>)
    if (const GroupBounds* const bounds = of.group_bounds.all; bounds != nullptr && bounds->serves()) {
      expects(bounds->rows() >= of.group_bounds.first + of.x.rows() && of.group_bounds.first % head_piece == 0,
              "assign: bounds of groups belong to other rows");
      return bounds->group() == 1 ? assign_by_pairs(ctx, of) : assign_by_groups(ctx, of);
    }
  if constexpr (std::is_same_v<S, float>)
    if (const auto stats = assign_bytes(ctx, of)) return *stats;
  const DensePass<S> pass(ctx, of, of.scores);
  const double products = static_cast<double>(of.x.cols()) * static_cast<double>(of.centroids.rows());
  return run_pass(ctx, of, pass, {pass.piece_rows(), products}, pass.scorer(), of.bounds.filter());
}

template AssignStats assign_dense<float>(const Context&, const AssignArguments&);
template AssignStats assign_dense<double>(const Context&, const AssignArguments&);

}  // namespace ts::inline v0::assign_detail
