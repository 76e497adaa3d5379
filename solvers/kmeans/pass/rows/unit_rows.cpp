#include "tallskinny/solvers/kmeans/pass/rows/unit_rows.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"

namespace ts::inline v0::assign_device {

namespace {

/// The norm below which a row has no direction; the inverse of this one is finite.
constexpr double least_norm = 0x1p-1000;

void unit_rows(const Context& ctx, const Rows& x, double* unit, std::span<double> scale) {
  if (x.rows() == 0) return;
  Workspace w;
  const std::size_t scales = w.reserve<double>(x.rows());
  w.get(ctx.stream);
  launch_threads(ctx, "unit_rows", cuda::UnitRowsPolicy{x.type()}, x.rows(),
                 {argument_of(x), static_cast<int>(x.cols()), least_norm, unit, w.at<double>(scales)});
  fetch_numbers(ctx, scale, w.at<double>(scales));
}

index_t reset_labels(const Context& ctx, PerRow<std::int32_t> labels, PerRow<const index_t> rows) {
  Workspace w;
  const std::size_t count = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<char>(count), 0, sizeof(std::uint64_t));
  launch_threads(ctx, "reset_labels", cuda::ResetLabelsPolicy{}, rows.size,
                 {rows.size, rows.data, labels.data, w.at<cuda::word64>(count)});
  return static_cast<index_t>(fetch_number(ctx, w.at<cuda::word64>(count)));
}

}  // namespace

}  // namespace ts::inline v0::assign_device

namespace ts::inline v0 {

void reciprocal_norms(const Context& ctx, const Rows& x, std::span<double> scale) {
  parallel_ranges(ctx.thread_count(), x.rows(), [&](index_t begin, index_t end) {
    std::vector<double> row;
    for (index_t i = begin; i < end; ++i) {
      row.resize(at(x.entries(i)));
      x.load_entries(i, row.data());
      double largest = 0, sum = 0;
      for (const double value : row) largest = std::max(largest, std::abs(value));
      if (largest > 0)
        for (const double value : row) sum += (value / largest) * (value / largest);
      const double norm = largest * std::sqrt(sum);
      const bool usable = norm >= assign_device::least_norm && std::isfinite(norm);
      scale[at(i)] = usable ? 1 / norm : 0;
    }
  });
}

Rows unit_rows(const Context& ctx, const Rows& x, PerRow<double> unit, std::span<double> scale) {
  expects(
      x.on_device() && unit.space == Space::device && unit.size >= x.rows() * x.cols() && std::ssize(scale) == x.rows(),
      "unit_rows: the rows must be on a device, and the results have room there");
  assign_device::unit_rows(ctx, x, unit.data, scale);
  return {ctx.stream, DeviceView<const double>(unit.data, x.rows(), x.cols(), x.cols())};
}

index_t reset_labels(const Context& ctx, PerRow<std::int32_t> labels, PerRow<const index_t> rows) {
  expects(rows.size == 0 || rows.space == labels.space, "reset_labels: the rows must be listed where the labels are");
  if (rows.size == 0) return 0;
  if (labels.space == Space::device) return assign_device::reset_labels(ctx, labels, rows);
  index_t changed = 0;
  for (const index_t i : rows.span()) {
    std::int32_t& label = labels.span()[at(i)];
    changed += label != 0 ? 1 : 0;
    label = 0;
  }
  return changed;
}

}  // namespace ts::inline v0
