#include "tallskinny/solvers/kmeans/pass/assign.hpp"

#include <limits>

#include "tallskinny/solvers/kmeans/pass/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/dense_pass.hpp"

namespace ts::inline v0 {

std::string_view assign_instructions(const Context& ctx) { return assign_cpu::select(ctx.simd).name; }

namespace assign_detail {

AssignStats assign_reference(const AssignArguments& of) {
  const Rows& x = of.x;
  const std::vector<double>& shift = of.moments.shift;
  const index_t k = of.centroids.rows(), d = of.centroids.cols();
  const auto c = Matrix<double>::copy_of(of.centroids);
  std::vector<double> row(at(d));
  AssignStats stats;
  for (index_t i = 0; i < x.rows(); ++i) {
    x.load(i, row.data());
    std::int32_t nearest = 0;
    auto least = squared_distance<long double>(row.data(), c.data(), d);
    for (index_t m = 1; m < k; ++m) {
      const auto distance = squared_distance<long double>(row.data(), c.data() + m * d, d);
      if (distance < least) least = distance, nearest = static_cast<std::int32_t>(m);
    }
    relabel(of, i, nearest, stats, [&](std::int32_t label, double weight) {
      for (index_t j = 0; j < d; ++j) row[at(j)] -= shift[at(j)];
      if (label >= 0) of.sums->add(*of.unit, label, row.data(), weight, true);
      of.sums->add(*of.unit, nearest, row.data(), weight);
    });
  }
  return stats;
}

template <class S>
AssignStats assign_dense(const Context& ctx, const AssignArguments& of) {
  if constexpr (std::is_same_v<S, float>) {
    if (const GroupBounds* const bounds = of.group_bounds.all; bounds != nullptr && bounds->serves()) {
      expects(
          bounds->rows() >= of.group_bounds.first + of.x.rows() && of.group_bounds.first % assign_cpu::piece_size == 0,
          "assign: bounds of groups belong to other rows");
      return assign_by_groups(ctx, of);
    }
    if (const auto stats = assign_bytes(ctx, of)) return *stats;
  }
  const DensePass<S> pass(ctx, of, of.scores);
  const double products = static_cast<double>(of.x.cols()) * static_cast<double>(of.centroids.rows());
  return run_pass(ctx, of, pass, {pass.piece_rows(), products}, pass.scorer(), of.bounds.filter());
}

template AssignStats assign_dense<float>(const Context&, const AssignArguments&);
template AssignStats assign_dense<double>(const Context&, const AssignArguments&);

}  // namespace assign_detail

AssignStats assign(const Context& ctx, const AssignArguments& of) {
  using namespace assign_detail;
  const index_t d = of.x.cols(), k = of.centroids.rows();
  expects(of.centroids.cols() == d, "assign: the centroids have another number of columns than the rows");
  expects(k >= 1 && k < std::numeric_limits<std::int32_t>::max(),
          "assign: the number of centroids must be between 1 and 2^31 - 2");
  expect_per_row(of.x, of.labels, "labels");
  if (!of.weights.empty()) expect_per_row(of.x, of.weights, "weights");
  expects(std::ssize(of.moments.shift) == d && std::ssize(of.moments.max_abs) == d,
          "assign: the moments are those of other rows");
  expects(of.sums == nullptr || (of.unit != nullptr && of.sums->clusters() == k && of.sums->cols() == d),
          "assign: the sums must have the shape of the centroids, and a unit");
  if (of.x.on_device()) {
    expects(of.bounds.all == nullptr, "assign: bounds serve rows in host memory only");
    return assign_device::assign_rows(ctx, of);
  }
  if (ctx.implementation == Implementation::reference) return assign_reference(of);
  if (d == 1 && !of.x.sparse() && of.bounds.all == nullptr) return assign_line(ctx, of);
  const bool wide = of.scores == Scores::float64;
  if (of.x.sparse()) return wide ? assign_sparse<double>(ctx, of) : assign_sparse<float>(ctx, of);
  return wide ? assign_dense<double>(ctx, of) : assign_dense<float>(ctx, of);
}

}  // namespace ts::inline v0
