#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/assign/assign_detail.hpp"
#include "tallskinny/gemm/assign/cpu/kernels.hpp"
#include "tallskinny/gemm/assign/cuda/assign_device.hpp"
#include "tallskinny/gemm/assign/team_detail.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts {

namespace {

using assign_detail::chunk_count;
using assign_detail::sparse_squared_distance;
using assign_detail::squared_distance;
using assign_detail::squared_norm;

/// Exact-difference distances of single rows to centroids.
class Direct {
 public:
  Direct(const Rows& x, HostView<const double> centroids) : x_(x), c_(Matrix<double>::copy_of(centroids)) {
    if (x.sparse())
      for (index_t m = 0; m < c_.rows(); ++m)
        norms_.push_back(squared_norm<long double>(c_.data() + m * c_.cols(), c_.cols()));
  }

  struct Scratch {
    std::vector<double> row;
  };
  void load(index_t i, Scratch& s) const {
    s.row.resize(static_cast<std::size_t>(x_.entries(i)));
    x_.load_entries(i, s.row.data());
  }
  [[nodiscard]] double to(index_t i, index_t m, const Scratch& s) const {
    const double* c = c_.data() + m * c_.cols();
    if (!x_.sparse()) return squared_distance<double>(s.row.data(), c, c_.cols());
    return static_cast<double>(sparse_squared_distance(s.row.data(), x_.indices() + x_.pointers()[i],
                                                       x_.entries(i), c,
                                                       norms_[static_cast<std::size_t>(m)]));
  }
  /// What rounding may have done to a distance: relative for dense rows, to the norms for sparse ones.
  [[nodiscard]] double rounding(double distance, index_t m, const Scratch& s) const {
    const double d = static_cast<double>(c_.cols() + 3);
    if (!x_.sparse()) return d * 0x1p-51 * distance;
    const auto norm = squared_norm<long double>(s.row.data(), static_cast<index_t>(s.row.size()));
    return d * 0x1p-51 * distance +
           d * 0x1p-61 * static_cast<double>(norm + norms_[static_cast<std::size_t>(m)]);
  }
  [[nodiscard]] index_t k() const noexcept { return c_.rows(); }

 private:
  const Rows& x_;
  Matrix<double> c_;
  std::vector<long double> norms_;
};

/// use(i, scratch, chunk) for every row; chunks in parallel, the rows of one in order.
template <class Use>
void for_each_row(const Context& ctx, index_t rows, Use&& use) {
  constexpr double products_per_chunk = 16.0 * chunk_rows;  // at the least
  const index_t chunks = chunk_count(rows);
#pragma omp parallel num_threads(assign_detail::team_size(ctx, chunks, products_per_chunk))
  {
    Direct::Scratch scratch;
#pragma omp for schedule(dynamic)
    for (index_t c = 0; c < chunks; ++c)
      for (index_t i = c * chunk_rows; i < std::min(rows, (c + 1) * chunk_rows); ++i) use(i, scratch, c);
  }
}

void expect_labels(const Rows& x, HostView<const double> centroids, PerRow<const std::int32_t> labels) {
  expects(centroids.cols() == x.cols(), "the centroids have another number of columns than the rows");
  assign_detail::expect_per_row(x, labels, "labels");
}

std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights) {
  const Direct direct(x, centroids);
  std::vector<double> partial(static_cast<std::size_t>(chunk_count(x.rows())));
  for_each_row(ctx, x.rows(), [&](index_t i, Direct::Scratch& s, index_t chunk) {
    const double weight = weights.empty() ? 1.0 : weights.data[i];
    if (weight == 0) return;  // even where the distance is infinite
    direct.load(i, s);
    partial[static_cast<std::size_t>(chunk)] += weight * direct.to(i, labels.data[i], s);
  });
  return partial;
}

}  // namespace

void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances) {
  expect_labels(x, centroids, labels);
  expects(static_cast<index_t>(distances.size()) == x.rows(), "distances must have one entry for each row");
  if (x.on_device()) return assign_device::own_squared_distances(ctx, x, centroids, labels, distances);
  const Direct direct(x, centroids);
  for_each_row(ctx, x.rows(), [&](index_t i, Direct::Scratch& s, index_t) {
    direct.load(i, s);
    distances[static_cast<std::size_t>(i)] = direct.to(i, labels.data[i], s);
  });
}

double inertia(const Context& ctx, const Rows& x, HostView<const double> centroids,
               PerRow<const std::int32_t> labels, PerRow<const double> weights, double before) {
  expect_labels(x, centroids, labels);
  if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
  const std::vector<double> partial = x.on_device()
                                          ? assign_device::chunk_inertias(ctx, x, centroids, labels, weights)
                                          : chunk_inertias(ctx, x, centroids, labels, weights);
  double sum = before;
  for (const double p : partial) sum += p;
  return sum;
}

index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels) {
  expect_labels(x, centroids, labels);
  if (x.on_device()) return assign_device::count_misassigned(ctx, x, centroids, labels);
  const Direct direct(x, centroids);
  std::vector<index_t> wrong(static_cast<std::size_t>(chunk_count(x.rows())));
  for_each_row(ctx, x.rows(), [&](index_t i, Direct::Scratch& s, index_t chunk) {
    direct.load(i, s);
    const index_t label = labels.data[i];
    if (label < 0 || label >= direct.k()) {
      ++wrong[static_cast<std::size_t>(chunk)];
      return;
    }
    const double own = direct.to(i, label, s), limit = own - direct.rounding(own, label, s);
    for (index_t m = 0; m < direct.k(); ++m)
      if (direct.to(i, m, s) < limit) {
        ++wrong[static_cast<std::size_t>(chunk)];
        break;
      }
  });
  index_t sum = 0;
  for (const index_t w : wrong) sum += w;
  return sum;
}

void distances(const Context& ctx, const Rows& x, HostView<const double> centroids, HostView<double> out) {
  expects(centroids.cols() == x.cols(), "the centroids have another number of columns than the rows");
  expects(out.rows() == x.rows() && out.cols() == centroids.rows(),
          "distances need room for one row for each point and one column for each centroid");
  expects(!x.on_device(), "distances of all rows to all centroids are computed for rows in host memory only");
  const Direct direct(x, centroids);
  for_each_row(ctx, x.rows(), [&](index_t i, Direct::Scratch& s, index_t) {
    direct.load(i, s);
    for (index_t m = 0; m < direct.k(); ++m) out(i, m) = std::sqrt(direct.to(i, m, s));
  });
}

template <class S>
void candidate_squared_distances(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                                 double scale, HostView<const double> candidates, HostView<S> out) {
  const index_t d = x.cols(), n = x.rows(), t = candidates.rows();
  expects(candidates.cols() == d && out.rows() == t && out.cols() == n,
          "candidate distances need room for one row for each candidate and one column for each point");
  auto scaled = Matrix<double>(t, d);
  for (index_t q = 0; q < t; ++q)
    for (index_t j = 0; j < d; ++j)
      scaled(q, j) = (candidates(q, j) - moments.shift[static_cast<std::size_t>(j)]) * scale;
  if (x.on_device())
    return assign_device::candidate_squared_distances(ctx, x, moments.shift, scale, scaled.cview(), out);
  if (x.sparse()) {
    std::vector<double> norms;
    for (index_t q = 0; q < t; ++q) norms.push_back(squared_norm<double>(scaled.data() + q * d, d));
    for_each_row(ctx, n, [&](index_t i, Direct::Scratch& s, index_t) {
      s.row.resize(static_cast<std::size_t>(x.entries(i)));
      x.load_entries(i, s.row.data());
      for (double& value : s.row) value *= scale;
      for (index_t q = 0; q < t; ++q)
        out(q, i) = static_cast<S>(sparse_squared_distance(s.row.data(), x.indices() + x.pointers()[i],
                                                           x.entries(i), scaled.data() + q * d,
                                                           norms[static_cast<std::size_t>(q)]));
    });
    return;
  }
  Matrix<S> rounded(t, d);
  for (index_t q = 0; q < t; ++q)
    for (index_t j = 0; j < d; ++j) rounded(q, j) = static_cast<S>(scaled(q, j));
  const auto& kernels = assign_cpu::score_kernels<S>(assign_cpu::select(ctx.simd));
  const index_t tile = kernels.rows, tiles = (n + tile - 1) / tile;
  const assign_detail::PackedShift<S> shift(moments, scale, kernels.lanes);
  const double products = static_cast<double>(tile * d) * static_cast<double>(t);
#pragma omp parallel num_threads(assign_detail::team_size(ctx, tiles, products))
  {
    std::vector<double> row(static_cast<std::size_t>(d));
    Matrix<S> side(d, tile);
    std::vector<index_t> numbers(static_cast<std::size_t>(tile));
    std::vector<S> norms(static_cast<std::size_t>(tile)), found(static_cast<std::size_t>(tile));
#pragma omp for schedule(static)
    for (index_t p = 0; p < tiles; ++p) {
      const index_t i0 = p * tile, count = std::min(tile, n - i0);
      for (index_t r = 0; r < tile; ++r) numbers[static_cast<std::size_t>(r)] = i0 + std::min(r, count - 1);
      kernels.pack(x, numbers.data(), shift.packing, row.data(), side.data(), norms.data());
      for (index_t q = 0; q < t; ++q) {
        kernels.squared_distances(side.data(), d, rounded.data() + q * d, found.data());
        std::copy_n(found.data(), count, out.data() + q * out.ld() + i0);
      }
    }
  }
}

template void candidate_squared_distances<float>(const Context&, const Rows&, const ColumnMoments&, double,
                                                 HostView<const double>, HostView<float>);
template void candidate_squared_distances<double>(const Context&, const Rows&, const ColumnMoments&, double,
                                                  HostView<const double>, HostView<double>);

}  // namespace ts
