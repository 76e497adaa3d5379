#include "tallskinny/app/tskmeans/plan.hpp"

#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

namespace ts::tskmeans {

namespace {

using solvers::KMeansAlgorithm;
using solvers::KMeansInit;

constexpr std::uint64_t largest_host_block = std::uint64_t{256} << 20;
/// A copy of this size takes a hundred times as long as starting it, and the kernels of a block.
constexpr std::uint64_t largest_device_block = std::uint64_t{64} << 20;
constexpr auto listed_bytes = static_cast<std::uint64_t>(listed_row_bytes);

/// What the options ask for, in the terms of memory.
struct Sizes {
  std::uint64_t n, d, clusters, kd;
  bool clustering, draws;  ///< first centres are drawn by distances
  std::uint64_t sampled;   ///< bytes of a sample to choose them in
  std::size_t results;     ///< numbers of clusters in one run

  Sizes(const ProgramOptions& o, const io::Description& points, index_t k)
      : n(static_cast<std::uint64_t>(points.rows)),
        d(static_cast<std::uint64_t>(points.cols)),
        clusters(static_cast<std::uint64_t>(k)),
        kd(clusters * d),
        clustering(o.predict.empty()),
        results(std::max<std::size_t>(1, o.clusters.size())) {
    const auto init = init_of(o.init);
    draws = clustering && init && init != KMeansInit::random;
    const auto number = static_cast<std::uint64_t>(points.type == DType::float64 ? 8 : 4);
    sampled = number * d * static_cast<std::uint64_t>(solvers::seeding_sample(points.rows, points.cols, k));
  }
};

std::vector<app::MemoryUse> host_memory(const ProgramOptions& o, const io::Description& points, index_t k,
                                        bool device) {
  const Sizes s(o, points, k);
  Context ctx;
  ctx.threads = o.common.threads;
  const auto threads = device ? 1 : static_cast<std::uint64_t>(ctx.thread_count());
  std::vector<app::MemoryUse> uses = {{"points", points.bytes}, {"labels", 4 * s.n}};
  // Centres in float64, their copies for scoring, and two 64-bit limbs of every sum for every thread.
  uses.push_back({"centres and sums", 40 * s.kd + 16 * s.kd * threads});
  if (s.clustering && o.kmeans.algorithm == KMeansAlgorithm::lloyd && o.kmeans.bounds && !device)
    uses.push_back({"bounds", 8 * s.n});
  if (s.clustering && o.kmeans.algorithm == KMeansAlgorithm::balanced)
    uses.push_back({"costs and bids", 8 * s.n * s.clusters + 24 * s.n});
  if (s.clustering && o.kmeans.algorithm == KMeansAlgorithm::bisecting)
    uses.push_back({"points of a cluster", 8 * static_cast<std::uint64_t>(points.nonzeros) + 16 * s.n});
  if (o.transform) uses.push_back({"distances", 8 * s.n * s.clusters});
  if (o.measures || s.results > 1) uses.push_back({"measures", 28 * s.n});
  if (s.results > 1) uses.push_back({"other labels", 4 * s.n * (s.results - 1)});
  if (!o.weights.empty()) uses.push_back({"weights", 8 * s.n});
  if (o.kmeans.metric == solvers::KMeansMetric::cosine) uses.push_back({"norms", 8 * s.n});
  if (s.draws && !device) uses.push_back({"first centres", 8 * s.n + s.sampled});
  return uses;
}

/// Bytes of a point's own copy of unit length on a device.
std::uint64_t unit_bytes(const ProgramOptions& o, const Sizes& s) {
  return o.kmeans.metric == solvers::KMeansMetric::cosine ? 8 * s.d : 0;
}

std::vector<app::MemoryUse> device_memory(const ProgramOptions& o, const io::Description& points, index_t k,
                                          bool in_blocks) {
  const Sizes s(o, points, k);
  // What a run keeps from pass to pass: labels, centres old and new, two limbs of every sum.
  std::vector<app::MemoryUse> uses = {{"points", points.bytes}, {"labels", 4 * s.n}};
  if (s.clustering && o.kmeans.algorithm == KMeansAlgorithm::lloyd)
    uses.push_back({"clusters", 32 * s.kd + 88 * s.clusters});
  if (!o.weights.empty()) uses.push_back({"weights", 8 * s.n});
  // Distances in float32 or float64, and which candidate is nearest.
  const std::uint64_t distance = points.type == DType::float64 ? 8 : 4;
  if (s.draws) uses.push_back({"first centres", (distance + 4) * s.n + 2 * s.sampled});
  // Centres as they are given and as kernels want them, sums, and a distance for each of so many points.
  constexpr std::uint64_t distances_at_once = std::uint64_t{1} << 24;
  uses.push_back({"centres and sums", 48 * s.kd + 8 * std::min(s.n, distances_at_once)});
  if (in_blocks) return uses;
  uses.push_back({"lists", listed_bytes * std::min(s.n, static_cast<std::uint64_t>(most_listed_rows))});
  // A list of a quarter of the points, and centres as they were when it was made.
  if (s.clustering && o.kmeans.algorithm == KMeansAlgorithm::lloyd && o.kmeans.bounds)
    uses.push_back({"bounds", 2 * s.n + 8 * s.kd});
  if (unit_bytes(o, s) > 0) uses.push_back({"points of unit length", unit_bytes(o, s) * s.n});
  return uses;
}

/// Bytes that the run may take; 0: unknown.
std::uint64_t limit_of(const ProgramOptions& o, std::uint64_t machine) {
  return o.memory == 0 ? machine : machine == 0 ? o.memory : std::min(o.memory, machine);
}

bool fits(const std::vector<app::MemoryUse>& uses, std::uint64_t limit) {
  return limit == 0 || solvers::total_bytes(uses) <= limit;
}

/// The size of blocks of which `buffers` are held instead of all points, which `uses` tells first, with so
/// many bytes beside them for each row of one.
std::uint64_t block_of(const std::string& what, std::vector<app::MemoryUse>& uses, std::uint64_t limit,
                       const io::Description& points, index_t buffers, std::uint64_t largest,
                       std::uint64_t beside = 0) {
  const auto row = static_cast<std::uint64_t>(points.cols * size_of(points.type));
  const std::uint64_t each = static_cast<std::uint64_t>(buffers) * row + beside, least = chunk_rows;
  uses.front() = {std::to_string(buffers) + " blocks of points", each * least};
  solvers::expect_memory(what, uses, limit);
  const std::uint64_t most = std::max(least, largest / row);
  const std::uint64_t rows = limit == 0 ? most : std::min(most, least + (limit - solvers::total_bytes(uses)) / each);
  uses.front().bytes = each * rows;
  return rows * row;
}

void place_on_host(Placement& p, const ProgramOptions& o, const io::Description& points, std::uint64_t limit) {
  if (fits(p.host_uses, limit)) return;
  const std::string what = "clustering " + points.where.text();
  if (!io::RowReader::reads(points, o.read) || o.transform || o.kmeans.algorithm != KMeansAlgorithm::lloyd)
    solvers::expect_memory(what +
                               " (only dense points in an HDF5 file, stored by rows, can be read in blocks, by "
                               "--algorithm lloyd or --predict, without --transform)",
                           p.host_uses, limit);
  p.in_host = false;
  p.host_block = block_of(what + " block by block", p.host_uses, limit, points, solvers::StreamedRows::host_buffers,
                          largest_host_block);
}

}  // namespace

Placement place_points(const ProgramOptions& o, const io::Description& points, index_t k, const Machine& machine) {
  Placement p;
  p.host_uses = host_memory(o, points, k, machine.has_device);
  const std::uint64_t host = limit_of(o, machine.host_bytes);
  if (!machine.has_device) {
    place_on_host(p, o, points, host);
    return p;
  }
  expects(!points.sparse, "sparse points are clustered on the processor only: use --device cpu");
  const std::string what = "clustering " + points.where.text() + " on a GPU";
  const std::uint64_t device = limit_of(o, machine.device_bytes);
  p.device_uses = device_memory(o, points, k, false);
  p.on_device = fits(p.device_uses, device);
  if (!p.on_device) {
    if (o.kmeans.algorithm != KMeansAlgorithm::lloyd)
      solvers::expect_memory(what + " (only --algorithm lloyd and --predict can send points in blocks)", p.device_uses,
                             device);
    // All starts share the passes over the blocks, each with labels and clusters of its own.
    const Sizes s(o, points, k);
    p.device_uses = device_memory(o, points, k, true);  // lists and unit points are those of a block
    if (s.clustering)
      for (const std::size_t each : {1, 2})
        p.device_uses[each].bytes *= s.results * static_cast<std::size_t>(o.kmeans.n_init);
    p.device_block =
        block_of(what + " block by block", p.device_uses, device, points, solvers::StreamedRows::device_buffers,
                 largest_device_block, listed_bytes + unit_bytes(o, s));
  } else {
    p.device_block = std::min(largest_device_block, std::max<std::uint64_t>(1, points.bytes));
  }
  // From their file, or by way of host memory if that is where they are needed again and again.
  std::vector<app::MemoryUse> by_host = p.host_uses;
  by_host.push_back({"blocks on their way", solvers::StreamedRows::pinned_buffers * p.device_block});
  const bool from_file = io::RowReader::reads(points, o.read) && !o.transform;
  if (from_file && (p.on_device || !fits(by_host, host))) {
    p.in_host = false;
    p.host_block = block_of(what, p.host_uses, host, points, solvers::StreamedRows::pinned_buffers, p.device_block);
    p.device_block = std::min(p.device_block, p.host_block);
  } else {
    p.host_uses = std::move(by_host);
    solvers::expect_memory(what, p.host_uses, host);
  }
  return p;
}

void print_plan(const ProgramOptions& o, const io::Description& points, index_t k, const Machine& machine) {
  const Placement place = place_points(o, points, k, machine);
  const std::uint64_t available = limit_of(o, machine.host_bytes), on_device = limit_of(o, machine.device_bytes);
  const double products = static_cast<double>(points.nonzeros) * static_cast<double>(k);
  if (o.common.json) {
    app::JsonObject json;
    json.add("input", points.where.text()).add("dry_run", true);
    json.add("rows", points.rows).add("cols", points.cols).add("sparse", points.sparse);
    json.add("n_clusters", k);
    json.add("flops_per_iteration", 2 * products).add("bytes_per_iteration", points.bytes);
    json.add("block_bytes", place.host_block);
    app::add_memory(json, place.host_uses, available);
    if (machine.has_device) {
      app::JsonObject there;
      there.add("points_stay", place.on_device).add("block_bytes", place.device_block);
      app::add_memory(there, place.device_uses, on_device);
      json.add("on_device", there);
    }
    std::cout << json.text() << '\n';
    return;
  }
  std::cout << points.where.text() << ": " << app::grouped(points.rows) << " points x " << app::grouped(points.cols)
            << " features (" << points.stored_type << (points.sparse ? ", sparse" : ", dense") << ")\n"
            << (o.predict.empty() ? "k-means" : "nearest centre") << " with " << app::grouped(k) << " clusters on the "
            << (machine.has_device ? "GPU" : "processor") << ": one pass over the points for each iteration, "
            << app::short_number(2 * products / 1e9, 3) << " GFlop and " << app::human_bytes(points.bytes) << " each\n";
  if (machine.has_device && !place.on_device)
    std::cout << "the points do not fit into the GPU's memory: sent from "
              << (place.in_host ? "host memory" : "their file") << " in blocks of "
              << app::human_bytes(place.device_block) << " in every pass\n";
  else if (!machine.has_device && !place.in_host)
    std::cout << "the points do not fit: read from the file in blocks of " << app::human_bytes(place.host_block)
              << '\n';
  app::print_memory(std::cout, place.host_uses, available);
  if (machine.has_device) {
    std::cout << "on the GPU:\n";
    app::print_memory(std::cout, place.device_uses, on_device);
  }
}

}  // namespace ts::tskmeans
