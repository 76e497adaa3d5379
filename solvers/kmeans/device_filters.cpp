#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

void DeviceFilters::prepare(const KMeansProblem& p, const LloydControl& control, int done, Clusters& clusters,
                            PassStrategy& strategy) {
  if (decided_ || done < from) return;
  decided_ = true;  // unless they are to begin later
  const bool projects = control.filter == KMeansFilter::projection, bounds = control.filter == KMeansFilter::bounds;
  const int left = control.max_iter - done;
  const index_t passes = projects || bounds ? left : passes_with_heads(left);
  if (control.filter == KMeansFilter::none || control.spherical || passes == 0) return;
  if (p.source.space() != Space::device || !p.source.in_memory()) return;
  p.for_each_block_here([&](index_t, const Rows& block) {
    if (block.rows() != p.rows()) return;
    const HeadsForm form = bounds ? HeadsForm{} : clusters.heads_form(block, passes, projects);
    decided_ = form.columns == 0 || projects || form.from <= done;
    if (!decided_) return;
    if (form.columns > 0) {
      const DeviceMatrix<double> axes = leading_space(alone(p.ctx), block, p.moments, form.columns);
      const HeadsForm found = form.within(axes.cols());  // fewer where rows have no more dimensions
      const DeviceView<const double> along(axes.data(), axes.rows(), found.columns, axes.cols());
      if (found.columns > 0) clusters.use_heads(block, along, found.numbers);
    }
    if (!projects && !p.distributed() && clusters.tile_bounds_may_pay(block, bounds)) clusters.use_tile_bounds(block);
    strategy.offer(clusters.choosing_costs(block));
  });
}

}  // namespace ts::inline v0::solvers::kmeans_detail
