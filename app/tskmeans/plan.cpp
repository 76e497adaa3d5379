#include "tallskinny/app/tskmeans/plan.hpp"

#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tskmeans/stream.hpp"
#include "tallskinny/gemm/backend/context.hpp"

namespace ts::tskmeans {

namespace {

std::vector<app::MemoryUse> memory_of(const ProgramOptions& o, const io::Description& points, index_t k) {
  const auto n = static_cast<std::uint64_t>(points.rows), d = static_cast<std::uint64_t>(points.cols);
  const auto clusters = static_cast<std::uint64_t>(k), kd = clusters * d;
  Context ctx;
  ctx.threads = o.common.threads;
  const auto threads = static_cast<std::uint64_t>(ctx.thread_count());
  std::vector<app::MemoryUse> uses = {{"points", points.bytes}, {"labels", 4 * n}};
  // Centres in float64, their copies for scoring, and two 64-bit limbs of every sum for every thread.
  uses.push_back({"centres and sums", 40 * kd + 16 * kd * threads});
  const bool clustering = o.predict.empty();
  if (clustering && o.kmeans.algorithm == solvers::KMeansAlgorithm::lloyd && o.kmeans.bounds)
    uses.push_back({"bounds", 8 * n});
  if (clustering && o.kmeans.algorithm == solvers::KMeansAlgorithm::balanced)
    uses.push_back({"costs and bids", 8 * n * clusters + 24 * n});
  if (clustering && o.kmeans.algorithm == solvers::KMeansAlgorithm::bisecting)
    uses.push_back({"points of a cluster", 8 * static_cast<std::uint64_t>(points.nonzeros) + 16 * n});
  if (o.transform) uses.push_back({"distances", 8 * n * clusters});
  if (o.measures || o.clusters.size() > 1) uses.push_back({"measures", 28 * n});
  if (o.clusters.size() > 1) uses.push_back({"other labels", 4 * n * (o.clusters.size() - 1)});
  if (!o.weights.empty()) uses.push_back({"weights", 8 * n});
  if (o.kmeans.metric == solvers::KMeansMetric::cosine) uses.push_back({"norms", 8 * n});
  const auto init = init_of(o.init);
  if (clustering && init == solvers::KMeansInit::random) uses.push_back({"first centres", 16 * n});
  if (clustering && init && init != solvers::KMeansInit::random) uses.push_back({"first centres", 8 * n});
  return uses;
}

/// Bytes that the run may take; 0: unknown.
std::uint64_t memory_limit(const ProgramOptions& o) {
  const std::uint64_t machine = app::available_memory();
  return o.memory == 0 ? machine : machine == 0 ? o.memory : std::min(o.memory, machine);
}

}  // namespace

void print_plan(const ProgramOptions& o, const io::Description& points, index_t k) {
  const std::uint64_t block = block_bytes(o, points, k);
  const auto uses = memory_of(o, points, k);
  const std::uint64_t available = memory_limit(o);
  const double products = static_cast<double>(points.nonzeros) * static_cast<double>(k);
  if (o.common.json) {
    app::JsonObject json;
    json.add("input", points.where.text()).add("dry_run", true);
    json.add("rows", points.rows).add("cols", points.cols).add("sparse", points.sparse);
    json.add("n_clusters", k);
    json.add("flops_per_iteration", 2 * products).add("bytes_per_iteration", points.bytes);
    json.add("block_bytes", block);
    app::add_memory(json, uses, available);
    std::cout << json.text() << '\n';
    return;
  }
  std::cout << points.where.text() << ": " << app::grouped(points.rows) << " points x "
            << app::grouped(points.cols) << " features (" << points.stored_type
            << (points.sparse ? ", sparse" : ", dense") << ")\n"
            << (o.predict.empty() ? "k-means" : "nearest centre") << " with " << app::grouped(k)
            << " clusters on the processor: one pass over the points for each iteration, "
            << app::short_number(2 * products / 1e9, 3) << " GFlop and " << app::human_bytes(points.bytes)
            << " each\n";
  if (block > 0)
    std::cout << "the points do not fit: read from the file in blocks of " << app::human_bytes(block) << '\n';
  app::print_memory(std::cout, uses, available);
}

std::uint64_t block_bytes(const ProgramOptions& o, const io::Description& points, index_t k) {
  constexpr std::uint64_t largest = std::uint64_t{256} << 20;
  std::vector<app::MemoryUse> uses = memory_of(o, points, k);
  const std::uint64_t limit = memory_limit(o);
  if (limit == 0 || app::total_bytes(uses) <= limit) return 0;
  const std::string what = "clustering " + points.where.text();
  if (!can_stream(points, o.read) || o.transform || o.kmeans.algorithm != solvers::KMeansAlgorithm::lloyd) {
    app::expect_memory(what +
                           " (only dense points in an HDF5 file, stored by rows, can be read in blocks, by "
                           "--algorithm lloyd or --predict, without --transform)",
                       uses, limit);
    return 0;
  }
  // Two blocks are in memory, and a third while it is copied into place.
  const auto least = static_cast<std::uint64_t>(chunk_rows * points.cols * size_of(points.type));
  uses.front() = {"three blocks of points", 3 * least};
  app::expect_memory(what + " block by block", uses, limit);
  return std::min(largest, least + (limit - app::total_bytes(uses)) / 3);
}

}  // namespace ts::tskmeans
