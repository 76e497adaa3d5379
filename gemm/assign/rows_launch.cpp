// Passes over rows on a device that assign nothing: moments, distances, the oracle.
#include <algorithm>
#include <limits>

#include "tallskinny/gemm/assign/arguments.hpp"
#include "tallskinny/gemm/assign/detail.hpp"
#include "tallskinny/gemm/assign/launch.hpp"
#include "tallskinny/gemm/assign/scores/plan.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::assign_device {

namespace {

using assign_detail::chunk_count;

void launch_moments(const Context& ctx, const Rows& x, index_t round, const double* shift, const double* mean,
                    double* out, std::uint64_t* first) {
  const index_t d = x.cols();
  cuda::launch(ctx,
               cuda::assign_threads_plan("assign_moments", x.type(), {cuda::define("TS_ROUND", round)},
                                         chunk_count(x.rows()) * d),
               RowsArgument(x), static_cast<int>(d), chunk_rows, shift, mean, out, first);
}

void fetch(const cuda::Stream& stream, HostView<double> to, const double* from) {
  cuda::copy_bytes(stream, to.data(), from, static_cast<std::size_t>(to.rows() * to.cols()) * sizeof(double));
}

}  // namespace

Matrix<double> chunk_sums(const Context& ctx, const Rows& x) {
  Matrix<double> sums(chunk_count(x.rows()), x.cols());
  if (x.rows() == 0 || x.cols() == 0) return sums;
  Workspace w;
  const std::size_t out = w.reserve<double>(sums.rows() * sums.cols());
  w.get(ctx.stream);
  launch_moments(ctx, x, 0, nullptr, nullptr, w.at<double>(out), nullptr);
  fetch(ctx.stream, sums.view(), w.at<double>(out));
  ctx.stream.synchronize();
  return sums;
}

ChunkSpread chunk_spread(const Context& ctx, const Rows& x, const ColumnMoments& moments) {
  const index_t chunks = chunk_count(x.rows()), d = x.cols();
  ChunkSpread spread{Matrix<double>(chunks, d), Matrix<double>(chunks, d)};
  if (x.rows() == 0 || d == 0) return spread;
  Parcel parcel(ctx, 2 * d);
  parcel.add(moments.shift);
  parcel.add(moments.mean);
  Workspace w;
  const std::size_t sent = w.reserve<double>(parcel.size()), out = w.reserve<double>(2 * chunks * d);
  w.get(ctx.stream);
  parcel.send(w.at<double>(sent));
  launch_moments(ctx, x, 1, w.at<double>(sent), w.at<double>(sent) + d, w.at<double>(out), nullptr);
  fetch(ctx.stream, spread.reach.view(), w.at<double>(out));
  fetch(ctx.stream, spread.squares.view(), w.at<double>(out) + chunks * d);
  ctx.stream.synchronize();
  return spread;
}

std::pair<index_t, index_t> first_not_finite(const Context& ctx, const Rows& x) {
  if (x.rows() == 0 || x.cols() == 0) return {-1, -1};
  Workspace w;
  const std::size_t at = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<char>(at), 0xff, sizeof(std::uint64_t));
  launch_moments(ctx, x, 2, nullptr, nullptr, nullptr, w.at<std::uint64_t>(at));
  std::uint64_t first = 0;
  cuda::copy_bytes(ctx.stream, &first, w.at<char>(at), sizeof first);
  ctx.stream.synchronize();
  if (first == std::numeric_limits<std::uint64_t>::max()) return {-1, -1};
  return {static_cast<index_t>(first) / x.cols(), static_cast<index_t>(first) % x.cols()};
}

void unit_rows(const Context& ctx, const Rows& x, double* unit, std::span<double> scale) {
  if (x.rows() == 0) return;
  Workspace w;
  const std::size_t scales = w.reserve<double>(x.rows());
  w.get(ctx.stream);
  cuda::launch(ctx, cuda::assign_threads_plan("unit_rows", x.type(), {}, x.rows()), RowsArgument(x),
               static_cast<int>(x.cols()), assign_detail::least_norm, unit, w.at<double>(scales));
  cuda::copy_bytes(ctx.stream, scale.data(), w.at<double>(scales), scale.size() * sizeof(double));
  ctx.stream.synchronize();
}

index_t reset_labels(const Context& ctx, PerRow<std::int32_t> labels, PerRow<const index_t> rows) {
  Workspace w;
  const std::size_t count = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<char>(count), 0, sizeof(std::uint64_t));
  cuda::launch(ctx, cuda::assign_threads_plan("reset_labels", DType::float64, {}, rows.size), rows.size,
               rows.data, labels.data, w.at<std::uint64_t>(count));
  std::uint64_t changed = 0;
  cuda::copy_bytes(ctx.stream, &changed, w.at<char>(count), sizeof changed);
  ctx.stream.synchronize();
  return static_cast<index_t>(changed);
}

namespace {

enum class Task { own, inertia_of_chunks };

void launch_distances(const Context& ctx, Task task, const Rows& x, index_t threads, const double* centroids,
                      const std::int32_t* labels, const double* weights, double* distances, double* out) {
  cuda::launch(ctx,
               cuda::assign_threads_plan("assign_distances", x.type(),
                                         {cuda::define("TS_TASK", static_cast<index_t>(task))}, threads),
               RowsArgument(x), static_cast<int>(x.cols()), centroids, labels, weights, chunk_rows, distances,
               out);
}

/// use(first row, rows, their distances in device memory, room for a number for each chunk of them) for
/// blocks of whole chunks.
template <class Use>
void for_own_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                       PerRow<const std::int32_t> labels, Use&& use) {
  constexpr index_t block = 4096 * chunk_rows;
  Parcel parcel(ctx, centroids.rows() * centroids.cols());
  parcel.add(centroids);
  Workspace w;
  const std::size_t sent = w.reserve<double>(parcel.size()),
                    found = w.reserve<double>(std::min(block, x.rows())),
                    chunks = w.reserve<double>(block / chunk_rows);
  w.get(ctx.stream);
  parcel.send(w.at<double>(sent));
  for (index_t i = 0; i < x.rows(); i += block) {
    const Rows rows = x.block(i, std::min(block, x.rows() - i));
    launch_distances(ctx, Task::own, rows, rows.rows(), w.at<double>(sent), labels.data + i, nullptr,
                     w.at<double>(found), nullptr);
    use(i, rows, w.at<double>(found), w.at<double>(chunks));
  }
  ctx.stream.synchronize();
}

}  // namespace

void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances) {
  for_own_distances(ctx, x, centroids, labels,
                    [&](index_t i, const Rows& rows, const double* found, double*) {
                      cuda::copy_bytes(ctx.stream, distances.data() + i, found,
                                       static_cast<std::size_t>(rows.rows()) * sizeof(double));
                    });
}

std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights) {
  std::vector<double> partial(static_cast<std::size_t>(chunk_count(x.rows())));
  for_own_distances(ctx, x, centroids, labels,
                    [&](index_t i, const Rows& rows, double* found, double* chunks) {
                      const index_t count = chunk_count(rows.rows());
                      launch_distances(ctx, Task::inertia_of_chunks, rows, count, nullptr, nullptr,
                                       weights.empty() ? nullptr : weights.data + i, found, chunks);
                      cuda::copy_bytes(ctx.stream, partial.data() + i / chunk_rows, chunks,
                                       static_cast<std::size_t>(count) * sizeof(double));
                    });
  return partial;
}

index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels) {
  if (x.rows() == 0) return 0;
  const index_t k = centroids.rows(), d = x.cols();
  Matrix<double> by_columns(d, k);
  for (index_t m = 0; m < k; ++m)
    for (index_t j = 0; j < d; ++j) by_columns(j, m) = centroids(m, j);
  Parcel parcel(ctx, k * d);
  parcel.add(by_columns.cview());
  Workspace w;
  const std::size_t sent = w.reserve<double>(parcel.size()), wrong = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  parcel.send(w.at<double>(sent));
  cuda::fill_bytes(ctx.stream, w.at<char>(wrong), 0, sizeof(std::uint64_t));
  const auto problem = cuda::assign_problem(x, k, true);
  const CentroidsArgument c{
      nullptr, w.at<double>(sent), nullptr, static_cast<int>(k), static_cast<int>(k), static_cast<int>(d), 1,
      1};
  cuda::launch(ctx, cuda::assign_rows_plan("assign_verify", problem, x.rows(), ctx.stream.device()),
               RowsArgument(x), c, labels.data, w.at<std::uint64_t>(wrong));
  std::uint64_t found = 0;
  cuda::copy_bytes(ctx.stream, &found, w.at<char>(wrong), sizeof found);
  ctx.stream.synchronize();
  return static_cast<index_t>(found);
}

}  // namespace ts::assign_device
