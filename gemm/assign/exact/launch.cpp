// Distances of rows on a device to the centroids of their labels, and the oracle.
#include "tallskinny/gemm/assign/exact/launch.hpp"

#include <algorithm>

#include "tallskinny/gemm/assign/exact/policy.hpp"
#include "tallskinny/gemm/assign/rows/launch.hpp"
#include "tallskinny/gemm/assign/rows/plan.hpp"
#include "tallskinny/gemm/assign/rows/upload.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::inline v0::assign_device {

using assign_detail::chunk_count;

namespace {

using Task = cuda::DistancesTask;

/// Sets what rows tell of the arguments.
void launch_distances(const Context& ctx, Task task, const Rows& x, index_t threads, cuda::DistancesArguments of) {
  of.x = argument_of(x), of.d = static_cast<int>(x.cols()), of.chunk = chunk_rows;
  cuda::launch_with<cuda::DistancesPolicy>(
      ctx, cuda::threads_plan("assign_distances", cuda::DistancesPolicy{x.type(), task}, threads), of);
}

/// use(first row, rows, their distances in device memory, memory for a number for each chunk of them) for
/// blocks of whole chunks.
template <class Use>
void for_own_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                       PerRow<const std::int32_t> labels, Use&& use) {
  constexpr index_t block = 4096 * chunk_rows;
  Upload upload(ctx, centroids.rows() * centroids.cols());
  upload.add(centroids);
  Workspace w;
  const std::size_t sent = w.reserve<double>(upload.size()), found = w.reserve<double>(std::min(block, x.rows())),
                    chunks = w.reserve<double>(block / chunk_rows);
  w.get(ctx.stream);
  upload.send(w.at<double>(sent));
  for (index_t i = 0; i < x.rows(); i += block) {
    const Rows rows = x.block(i, std::min(block, x.rows() - i));
    launch_distances(ctx, Task::own, rows, rows.rows(),
                     {.centroids = w.at<double>(sent), .labels = labels.data + i, .distances = w.at<double>(found)});
    use(i, rows, w.at<double>(found), w.at<double>(chunks));
  }
  ctx.stream.synchronize();
}

}  // namespace

void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances) {
  for_own_distances(ctx, x, centroids, labels, [&](index_t i, const Rows& rows, const double* found, double*) {
    cuda::copy_bytes(ctx.stream, distances.data() + i, found, static_cast<std::size_t>(rows.rows()) * sizeof(double));
  });
}

std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights) {
  std::vector<double> partial(static_cast<std::size_t>(chunk_count(x.rows())));
  for_own_distances(ctx, x, centroids, labels, [&](index_t i, const Rows& rows, double* found, double* chunks) {
    const index_t count = chunk_count(rows.rows());
    launch_distances(ctx, Task::inertia_of_chunks, rows, count,
                     {.weights = weights.part(i, rows.rows()).data, .distances = found, .out = chunks});
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
  Upload upload(ctx, k * d);
  upload.add(by_columns.cview());
  Workspace w;
  const std::size_t sent = w.reserve<double>(upload.size()), wrong = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  upload.send(w.at<double>(sent));
  cuda::fill_bytes(ctx.stream, w.at<char>(wrong), 0, sizeof(std::uint64_t));
  const cuda::CentroidsArgument c{
      nullptr, w.at<double>(sent), nullptr, static_cast<int>(k), static_cast<int>(k), static_cast<int>(d), 1, 1};
  cuda::launch_with<cuda::VerifyPolicy>(
      ctx, cuda::warps_plan("assign_verify", cuda::VerifyPolicy{x.type()}, x.rows(), ctx.stream.device()),
      {argument_of(x), c, labels.data, w.at<cuda::word64>(wrong)});
  return static_cast<index_t>(fetch_number(ctx, w.at<cuda::word64>(wrong)));
}

}  // namespace ts::inline v0::assign_device
