#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"

namespace ts::inline v0::assign_detail {

std::vector<bool> copies(HostView<const double> centroids) {
  const index_t k = centroids.rows(), d = centroids.cols();
  std::vector<bool> copy(at(k));
  std::unordered_multimap<std::size_t, index_t> seen;
  std::vector<double> row(at(d));
  for (index_t m = 0; m < k; ++m) {
    const double* const c = centroids.data() + m * centroids.ld();
    std::transform(c, c + d, row.begin(), [](double x) { return x + 0.0; });  // -0.0 becomes 0.0
    const std::size_t hash =
        std::hash<std::string_view>{}({reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double)});
    const auto [begin, end] = seen.equal_range(hash);
    copy[at(m)] = std::any_of(begin, end, [&](const auto& other) {
      return std::equal(c, c + d, centroids.data() + other.second * centroids.ld());
    });
    if (!copy[at(m)]) seen.emplace(hash, m);
  }
  return copy;
}

double max_abs_of(HostView<const double> centroids, const ColumnMoments& moments) {
  std::vector<double> of_column = moments.max_abs;
  of_column.resize(moments.shift.size());
  for (index_t m = 0; m < centroids.rows(); ++m) {
    const double* const c = centroids.data() + m * centroids.ld();
    for (std::size_t j = 0; j < of_column.size(); ++j)
      of_column[j] = std::max(of_column[j], std::abs(c[j] - moments.shift[j]));
  }
  return of_column.empty() ? 0 : *std::max_element(of_column.begin(), of_column.end());
}

double scoring_scale(HostView<const double> centroids, const ColumnMoments& moments) {
  return inverse_power_of_two(max_abs_of(centroids, moments));
}

Matrix<double> scaled_centroids(const Context& ctx, HostView<const double> centroids, const ColumnMoments& moments,
                                double scale, Matrix<double> into) {
  const bool fits = into.rows() == centroids.rows() && into.cols() == centroids.cols();
  Matrix<double> scaled = fits ? std::move(into) : Matrix<double>(centroids.rows(), centroids.cols());
  parallel_for(team_size(ctx, scaled.rows(), static_cast<double>(scaled.cols())), scaled.rows(), [&](index_t m) {
    for (index_t j = 0; j < scaled.cols(); ++j) scaled(m, j) = (centroids(m, j) - moments.shift[at(j)]) * scale;
  });
  return scaled;
}

namespace {

/// Bound of the rounding error of a distance. Coordinates are at most 1 and rounded twice; the sum of d squares is
/// rounded d + 2 times.
struct Rounding {
  double factor, more;
  explicit Rounding(index_t d)
      : factor(1 + static_cast<double>(d + 8) * 0x1p-52), more(std::sqrt(static_cast<double>(d)) * 0x1p-50) {}
};

}  // namespace

std::vector<float> steps_between(const Context& ctx, HostView<const double> before, HostView<const double> now) {
  const index_t k = now.rows(), d = now.cols();
  const Rounding rounding(d);
  const auto squared_distance = assign_cpu::select(ctx.simd).squared_distance;
  std::vector<float> moved(at(k));
  parallel_for(team_size(ctx, k, 4 * static_cast<double>(d)), k, [&](index_t m) {
    if (std::equal(&now(m, 0), &now(m, 0) + d, &before(m, 0))) return;
    moved[at(m)] =
        float_above(std::sqrt(squared_distance(&now(m, 0), &before(m, 0), d)) * rounding.factor + rounding.more);
  });
  return moved;
}

std::vector<float> half_gaps_between(const Context& ctx, HostView<const double> c) {
  const index_t k = c.rows(), d = c.cols();
  const Rounding rounding(d);
  const auto squared_distance = assign_cpu::select(ctx.simd).squared_distance;
  std::vector<float> gaps(at(k));
  parallel_for(team_size(ctx, k, 4 * static_cast<double>(k * d)), k, [&](index_t m) {
    double least = std::numeric_limits<double>::infinity();
    for (index_t q = 0; q < k; ++q)
      if (q != m) least = std::min(least, squared_distance(&c(m, 0), &c(q, 0), d));
    const double half = (std::sqrt(least) / rounding.factor - rounding.more) / 2;
    gaps[at(m)] = static_cast<float>(std::max(0.0, half * (1 - 0x1p-22) - 0x1p-126));
  });
  return gaps;
}

template <class S>
PackedShift<S>::PackedShift(const ColumnMoments& moments, double scale, index_t lanes)
    : wide(moments.shift), narrow(moments.shift.begin(), moments.shift.end()) {
  constexpr double within = 0x1p126;  // of the range of float32, with room for one subtraction
  bool direct = scale >= 0x1p-100 && scale <= 0x1p100;
  for (std::size_t j = 0; j < moments.shift.size(); ++j)
    direct = direct && static_cast<double>(narrow[j]) == moments.shift[j] &&
             std::abs(moments.shift[j]) + moments.max_abs[j] <= within;
  wide.resize(wide.size() + at(lanes));
  narrow.resize(wide.size());
  packing = {wide.data(), scale, narrow.data(), direct};
}
template struct PackedShift<float>;
template struct PackedShift<double>;

template <class S>
Scored<S>::Scored(const Context& ctx, HostView<const double> centroids, const ColumnMoments& moments, Copies of_copies)
    : k(centroids.rows()), d(centroids.cols()), negated(at(k * d)), half_norms(at(k)), exact(at(k * d)) {
  using Sum = std::conditional_t<sizeof(S) == sizeof(float), double, long double>;
  scale = scoring_scale(centroids, moments);
  if (scale < 0x1p-900) shrink = scale;
  const std::vector<bool> copy =
      of_copies == Copies::never_win ? copies(centroids) : std::vector<bool>(half_norms.size());
  std::vector<double> norms(half_norms.size());
  parallel_for(team_size(ctx, k, static_cast<double>(d)), k, [&](index_t m) {
    Sum norm = 0;
    for (index_t j = 0; j < d; ++j) {
      const auto place = at(m * d + j);
      const double c = centroids(m, j);
      const double centred = (c - moments.shift[at(j)]) * scale;
      exact[place] = c * shrink;
      negated[place] = static_cast<S>(-centred);
      norm += static_cast<Sum>(centred) * centred;
    }
    half_norms[at(m)] = copy[at(m)] ? std::numeric_limits<S>::infinity() : static_cast<S>(norm / 2);
    norms[at(m)] = static_cast<double>(std::sqrt(norm));
  });
  for (const double norm : norms) largest_norm = std::max(largest_norm, norm);
  largest_norm = largest_norm * (1 + 1e-6) + std::sqrt(static_cast<double>(d)) * std::numeric_limits<S>::min();
}

template struct Scored<float>;
template struct Scored<double>;

}  // namespace ts::inline v0::assign_detail
