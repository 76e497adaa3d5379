#include "tallskinny/gemm/assign/assign.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tallskinny/gemm/assign/detail.hpp"
#include "tallskinny/gemm/assign/launch.hpp"
#include "tallskinny/gemm/assign/team_detail.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts {

namespace assign_detail {

std::vector<bool> copies(HostView<const double> centroids) {
  const index_t k = centroids.rows(), d = centroids.cols();
  std::vector<bool> copy(static_cast<std::size_t>(k));
  std::unordered_map<std::string_view, index_t> seen;
  std::vector<double> dense(static_cast<std::size_t>(k * d));
  for (index_t m = 0; m < k; ++m) {
    double* row = dense.data() + m * d;
    for (index_t j = 0; j < d; ++j) row[j] = centroids(m, j) + 0.0;  // -0.0 becomes 0.0
    const std::string_view key(reinterpret_cast<const char*>(row),
                               static_cast<std::size_t>(d) * sizeof(double));
    copy[static_cast<std::size_t>(m)] = !seen.emplace(key, m).second;
  }
  return copy;
}

double reach_of(HostView<const double> centroids, const ColumnMoments& moments) {
  double reach = moments.reach.empty() ? 0 : *std::max_element(moments.reach.begin(), moments.reach.end());
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const auto distance = [](double shift, double c) { return std::abs(c - shift); };
  for (index_t m = 0; m < centroids.rows(); ++m)
    reach = std::transform_reduce(moments.shift.begin(), moments.shift.end(),
                                  centroids.data() + m * centroids.ld(), reach, larger, distance);
  return reach;
}

double scoring_scale(HostView<const double> centroids, const ColumnMoments& moments) {
  return inverse_power_of_two(reach_of(centroids, moments));
}

template <class S>
PackedShift<S>::PackedShift(const ColumnMoments& moments, double scale, index_t lanes)
    : wide(moments.shift), narrow(moments.shift.begin(), moments.shift.end()) {
  constexpr double within = 0x1p126;  // of the range of float32, with room for one subtraction
  bool direct = scale >= 0x1p-100 && scale <= 0x1p100;
  for (std::size_t j = 0; j < moments.shift.size(); ++j)
    direct = direct && static_cast<double>(narrow[j]) == moments.shift[j] &&
             std::abs(moments.shift[j]) + moments.reach[j] <= within;
  wide.resize(wide.size() + static_cast<std::size_t>(lanes));
  narrow.resize(wide.size());
  packing = {wide.data(), scale, narrow.data(), direct};
}
template struct PackedShift<float>;
template struct PackedShift<double>;

template <class S>
Scored<S>::Scored(HostView<const double> centroids, const ColumnMoments& moments)
    : k(centroids.rows()),
      d(centroids.cols()),
      negated(static_cast<std::size_t>(k * d)),
      half_norms(static_cast<std::size_t>(k)),
      exact(static_cast<std::size_t>(k * d)) {
  using Sum = std::conditional_t<sizeof(S) == sizeof(float), double, long double>;
  scale = scoring_scale(centroids, moments);
  if (scale < 0x1p-900) shrink = scale;
  const std::vector<bool> copy = copies(centroids);
  for (index_t m = 0; m < k; ++m) {
    Sum norm = 0;
    for (index_t j = 0; j < d; ++j) {
      const auto at = static_cast<std::size_t>(m * d + j);
      const double c = centroids(m, j);
      const double centred = (c - moments.shift[static_cast<std::size_t>(j)]) * scale;
      exact[at] = c * shrink;
      negated[at] = static_cast<S>(-centred);
      norm += static_cast<Sum>(centred) * centred;
    }
    half_norms[static_cast<std::size_t>(m)] =
        copy[static_cast<std::size_t>(m)] ? std::numeric_limits<S>::infinity() : static_cast<S>(norm / 2);
    largest_norm = std::max(largest_norm, static_cast<double>(std::sqrt(norm)));
  }
  largest_norm =
      largest_norm * (1 + 1e-6) + std::sqrt(static_cast<double>(d)) * std::numeric_limits<S>::min();
}

template struct Scored<float>;
template struct Scored<double>;

AssignStats assign_reference(const Rows& x, const ColumnMoments& moments, HostView<const double> centroids,
                             std::span<std::int32_t> labels, std::span<const double> weights,
                             const FixedPoint* unit, ClusterSums* sums) {
  const index_t k = centroids.rows(), d = centroids.cols();
  const auto c = Matrix<double>::copy_of(centroids);
  std::vector<double> row(static_cast<std::size_t>(d));
  AssignStats stats;
  for (index_t i = 0; i < x.rows(); ++i) {
    x.load(i, row.data());
    std::int32_t nearest = 0;
    auto least = squared_distance<long double>(row.data(), c.data(), d);
    for (index_t m = 1; m < k; ++m) {
      const auto distance = squared_distance<long double>(row.data(), c.data() + m * d, d);
      if (distance < least) least = distance, nearest = static_cast<std::int32_t>(m);
    }
    std::int32_t& label = labels[static_cast<std::size_t>(i)];
    if (label == nearest) continue;
    ++stats.changed;
    const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
    if (sums != nullptr && weight != 0) {
      for (index_t j = 0; j < d; ++j)
        row[static_cast<std::size_t>(j)] -= moments.shift[static_cast<std::size_t>(j)];
      if (label >= 0) sums->add(*unit, label, row.data(), weight, true);
      sums->add(*unit, nearest, row.data(), weight);
    }
    label = nearest;
  }
  return stats;
}

}  // namespace assign_detail

AssignStats assign(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                   HostView<const double> centroids, Scores scores, PerRow<std::int32_t> labels,
                   PerRow<const double> weights, const FixedPoint* unit, ClusterSums* sums,
                   BoundsOfRows bounds, bool settled) {
  using namespace assign_detail;
  const index_t d = x.cols();
  const auto size = [](const auto& s) { return static_cast<index_t>(s.size()); };
  expects(centroids.cols() == d, "assign: the centroids have another number of columns than the rows");
  expects(centroids.rows() >= 1 && centroids.rows() < std::numeric_limits<std::int32_t>::max(),
          "assign: the number of centroids must be between 1 and 2^31 - 2");
  expect_per_row(x, labels, "labels");
  if (!weights.empty()) expect_per_row(x, weights, "weights");
  expects(size(moments.shift) == d && size(moments.reach) == d,
          "assign: the moments are those of other rows");
  expects(sums == nullptr || (unit != nullptr && sums->clusters() == centroids.rows() && sums->cols() == d),
          "assign: the sums must have the shape of the centroids, and a unit");
  if (x.on_device()) {
    expects(bounds.all == nullptr, "assign: bounds serve rows in host memory only");
    return assign_device::assign(ctx, x, moments, centroids, scores, labels, weights, unit, sums, settled);
  }
  const auto here = labels.span();
  const auto weigh = weights.span();
  if (ctx.implementation == Implementation::reference)
    return assign_reference(x, moments, centroids, here, weigh, unit, sums);
  const bool wide = scores == Scores::float64, proven = scores != Scores::fast;
  if (x.sparse())
    return wide ? assign_sparse<double>(ctx, x, moments, centroids, here, weigh, unit, sums, bounds, proven)
                : assign_sparse<float>(ctx, x, moments, centroids, here, weigh, unit, sums, bounds, proven);
  return wide ? assign_dense<double>(ctx, x, moments, centroids, scores, here, weigh, unit, sums, bounds)
              : assign_dense<float>(ctx, x, moments, centroids, scores, here, weigh, unit, sums, bounds);
}

namespace {

/// No scratch, no counts: what for_each_piece() asks of a pass.
struct AddRows {
  struct Scratch {
    std::vector<double> row;
    AssignStats stats;
  };
  [[nodiscard]] static Scratch scratch() { return {}; }
};

}  // namespace

void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments,
              PerRow<const std::int32_t> labels, PerRow<const double> weights, const FixedPoint& unit,
              ClusterSums& sums) {
  assign_detail::expect_per_row(x, labels, "labels");
  expects(sums.cols() == x.cols(), "add_rows: the sums are those of other rows");
  if (x.on_device()) return assign_device::add_rows(ctx, x, moments, labels, weights, unit, sums);
  const auto& kernels = assign_cpu::select(ctx.simd);
  const index_t chunks = assign_detail::chunk_count(x.rows());
  const int team = assign_detail::team_size(ctx, chunks, static_cast<double>(chunk_rows * x.cols()));
  assign_detail::for_each_piece(team, AddRows{}, chunks, &sums, [&](index_t c, ClusterSums* own, auto& s) {
    for (index_t i = c * chunk_rows; i < std::min(x.rows(), (c + 1) * chunk_rows); ++i) {
      const std::int32_t label = labels.data[i];
      const double weight = weights.empty() ? 1.0 : weights.data[i];
      if (label < 0 || weight == 0) continue;
      s.row.resize(static_cast<std::size_t>(x.entries(i)));
      if (x.sparse()) {
        x.load_entries(i, s.row.data());
        own->add_sparse(unit, label, s.row.data(), x.indices() + x.pointers()[i], x.entries(i), weight);
      } else {
        kernels.centred(x, i, moments.shift.data(), s.row.data());
        own->add(unit, label, s.row.data(), weight);
      }
    }
  });
}

}  // namespace ts
