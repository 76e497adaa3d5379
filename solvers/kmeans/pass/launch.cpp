#include "tallskinny/solvers/kmeans/pass/launch.hpp"

#include <algorithm>

#include "tallskinny/solvers/kmeans/pass/resolver/squared_distance.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0::assign_device {

namespace {

/// Puts the centroids into the upload, and measures each block while it is in a cache.
Spread pack(const Context& ctx, Upload& upload, HostView<const double> centroids, const ColumnMoments& moments) {
  struct Extent {
    double max_abs = 0, squared = 0;
  };
  std::vector<Extent> extents(at(SmallBlocks(centroids).count));
  // Means lie among their rows, so that mostly rows alone decide the scale.
  double scale = assign_detail::scoring_scale(centroids.rows(0, 0), moments);
  const auto measure = [&](index_t b, HostView<const double> block) {
    Extent& extent = extents[at(b)];
    extent = {assign_detail::max_abs_of(block, moments), 0};
    for (index_t m = 0; m < block.rows(); ++m)
      extent.squared =
          std::max(extent.squared, assign_detail::squared_distance<double>(block.data() + m * block.ld(),
                                                                           moments.shift.data(), block.cols(), scale));
  };
  const auto largest = [&extents](double Extent::*of) {
    double most = 0;
    for (const Extent& extent : extents) most = std::max(most, extent.*of);
    return most;
  };
  upload.add(centroids, measure);
  const double of_rows = scale;
  scale = inverse_power_of_two(largest(&Extent::max_abs));
  if (scale != of_rows) for_blocks(ctx, centroids, measure);
  return {scale, largest(&Extent::squared)};
}

}  // namespace

AssignStats assign_rows(const Context& ctx, const AssignArguments& of) {
  const index_t k = of.centroids.rows(), d = of.x.cols();
  AssignStats all;
  for (index_t i = 0; i < of.x.rows(); i += most_listed_rows) {
    const index_t rows = std::min(most_listed_rows, of.x.rows() - i);
    Upload upload(ctx, k * d + 2 * d + k);
    PlacedCentroids placed;
    placed.sums.clusters = k;
    placed.rows = upload.next();
    placed.spread = pack(ctx, upload, of.centroids, of.moments);
    placed.first_column = upload.next();
    upload.add(of.centroids.block(0, 0, k, 1));
    placed.sums.shift = upload.next();
    upload.add(of.moments.shift);
    placed.sums.to_units = upload.next();
    if (of.sums != nullptr) upload.add(of.unit->to_units);
    upload.send();
    all += pass_over(ctx, {of.x.block(i, rows), of.moments, placed, of.scores, of.labels.part(i, rows),
                           of.weights.part(i, rows), of.unit, of.stable, false, nullptr, of.sums});
  }
  return all;
}

/// True if x - shift in float32 would lose more than the bound on scores includes, or could overflow: rows are widened
/// then.
bool needs_wide(const ColumnMoments& moments, DType type, double scale) {
  if (type == DType::float64 || !(scale >= 0x1p-100 && scale <= 0x1p100)) return true;
  for (std::size_t j = 0; j < moments.shift.size(); ++j) {
    const double shift = moments.shift[j], scaled = shift * scale;
    if (static_cast<double>(static_cast<float>(scaled)) != scaled ||
        (std::abs(shift) + moments.max_abs[j]) * scale > 0x1p100)
      return true;
  }
  return false;
}

/// True if products of rows with float16 numbers need neither shift nor scale: columns are near their origin by
/// float16's measure, and squares of a few elements fit in float16.
bool allows_raw_rows(const ColumnMoments& moments, DType type, double scale) {
  if ((type != DType::float16 && type != DType::float32) || !(scale >= 0x1p-5 && scale <= 0x1p4)) return false;
  double shift = 0, squares = 0;
  for (std::size_t j = 0; j < moments.shift.size(); ++j) {
    if (std::abs(moments.shift[j]) + moments.max_abs[j] > 0x1p5) return false;
    shift += moments.shift[j] * moments.shift[j], squares += moments.max_abs[j] * moments.max_abs[j];
  }
  return 16 * shift <= squares;
}

Origin::Origin(const ColumnMoments& moments, const Spread& centroids, bool raw) {
  const double scale = centroids.scale;
  row_norm = 0;
  double offset = 0;  // the norm of what is not taken from rows then
  for (std::size_t j = 0; j < moments.max_abs.size(); ++j) {
    const double shift = raw ? std::abs(moments.shift[j]) * scale : 0, r = moments.max_abs[j] * scale + shift;
    row_norm += r * r, offset += shift * shift;
  }
  row_norm = std::sqrt(row_norm), offset = std::sqrt(offset);
  norms = (row_norm + offset) * std::sqrt(centroids.squared);
  const int exponent = std::ilogb(std::max(1.05 * (centroids.squared / 2 + norms), 0x1p-60)) + 1;
  value = std::ldexp(3.0, exponent), unit = std::ldexp(1.0, exponent - 22);
}

}  // namespace ts::inline v0::assign_device
