#include "tallskinny/solvers/setup/kmeans_plan.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/kmeans/pass/pass.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr std::uint64_t largest_host_block = std::uint64_t{256} << 20;
/// A copy of this size takes a hundred times as long as starting it, and the kernels of a block.
constexpr std::uint64_t largest_device_block = std::uint64_t{64} << 20;
constexpr auto listed_bytes = static_cast<std::uint64_t>(listed_row_bytes);

using Uses = std::vector<MemoryUse>;

/// A block that is read, labelled and forgotten stays in the last cache meanwhile if it is small; but each thread has
/// two chunks of it, and centres are made ready for each block, so that it has twice as many rows.
std::uint64_t labelled_block(const PointsShape& points, int threads, index_t clusters) {
  constexpr std::uint64_t small = std::uint64_t{8} << 20;
  const auto chunk = static_cast<std::uint64_t>(chunk_rows * points.cols * size_of(points.type));
  return std::min(largest_host_block, std::max({small, 2 * static_cast<std::uint64_t>(threads) * chunk,
                                                static_cast<std::uint64_t>(2 * clusters / chunk_rows) * chunk}));
}

/// A run's request, in the quantities that decide its memory.
struct Needs {
  const KMeansOptions& o;
  const KMeansUses& uses;
  const PointsShape& points;
  std::uint64_t n = static_cast<std::uint64_t>(points.rows), d = static_cast<std::uint64_t>(points.cols);
  std::uint64_t clusters = static_cast<std::uint64_t>(o.clusters), kd = clusters * d;
  std::uint64_t number = points.type == DType::float64 ? 8 : 4;  ///< bytes of a copied coordinate
  bool clustering = !uses.predicts, cosine = o.metric == KMeansMetric::cosine;
  bool two_level = o.algorithm == KMeansAlgorithm::two_level;
  bool on_sample = clustering && takes_sample(o, points.rows, std::max<index_t>(1, o.clusters));
  /// Points of a sample that lies beside all, and those that are iterated over.
  std::uint64_t sample = on_sample ? static_cast<std::uint64_t>(o.sample) * clusters : 0;
  std::uint64_t iterated = on_sample ? sample : n;
  std::uint64_t copied = points.sparse
                             ? 12 * static_cast<std::uint64_t>(points.nonzeros) / std::max<std::uint64_t>(1, n)
                             : number * d;  ///< bytes of a copied point
  bool iterates = clustering && (o.algorithm == KMeansAlgorithm::lloyd || two_level);
  bool once = uses.predicts && points.by_rows && !uses.transforms && !uses.measures && !uses.verifies;
  /// First centres are drawn by distances.
  bool draws = clustering && o.init != KMeansInit::random && o.init != KMeansInit::given;
  /// Points to choose them among: of k-means|| those that it keeps, about 5 x k / 2.
  index_t candidates = o.init == KMeansInit::parallel
                           ? std::min<index_t>(static_cast<index_t>(iterated), 4 * o.clusters)
                           : seeding_sample(static_cast<index_t>(iterated), points.cols, o.clusters);
  std::uint64_t sampled = number * d * static_cast<std::uint64_t>(candidates);  ///< bytes of these
  std::uint64_t unit_bytes = cosine ? 8 * d : 0;  ///< of a point's own copy of unit length on a device
};

/// Copies of points that samples and two-level runs make, in the memory where the points are.
Uses copies(const Needs& s) {
  Uses uses;
  if (s.on_sample) uses.push_back({"sample", s.sample * (s.copied + 4)});
  // Four times the mean of coarse clusters.
  if (s.clustering && s.two_level)
    uses.push_back({"points of a cluster",
                    std::min(s.iterated, 4 * static_cast<std::uint64_t>(
                                                 static_cast<double>(s.iterated) /
                                                 std::sqrt(std::max(1.0, static_cast<double>(s.clusters))))) *
                        (s.copied + 12)});
  return uses;
}

bool uses_bounds(const KMeansOptions& o) {
  return o.filter == KMeansFilter::automatic || o.filter == KMeansFilter::bounds;
}

Uses host_memory(const Needs& s, bool device) {
  const auto threads = device ? 1 : static_cast<std::uint64_t>(s.uses.threads);
  Uses uses = {{"points", s.points.bytes}, {"labels", 4 * s.n}};
  const auto add_if = [&uses](bool condition, const char* what, std::uint64_t bytes) {
    if (condition) uses.push_back({what, bytes});
  };
  // Centres in float64, their copies for scoring, and two 64-bit limbs of every sum for every thread.
  add_if(true, "centres and sums", 40 * s.kd + 16 * s.kd * threads);
  add_if(s.iterates && uses_bounds(s.o) && !device, "bounds", 8 * s.iterated);
  add_if(s.iterates && uses_bounds(s.o) && !device && !s.points.sparse, "rows in 8 bits and bounds",
         group_bounds_bytes(static_cast<index_t>(s.iterated), s.points.cols, s.o.clusters));
  add_if(s.clustering && s.o.algorithm == KMeansAlgorithm::balanced, "costs and bids", 8 * s.n * s.clusters + 24 * s.n);
  add_if(s.clustering && s.o.algorithm == KMeansAlgorithm::bisecting, "points of a cluster",
         8 * static_cast<std::uint64_t>(s.points.nonzeros) + 16 * s.n);
  add_if(s.uses.transforms, "distances", 8 * s.n * s.clusters);
  add_if(s.uses.measures || s.uses.results > 1, "measures", 28 * s.n);
  add_if(s.uses.results > 1, "other labels", 4 * s.n * (s.uses.results - 1));
  add_if(s.uses.weighted, "weights", 8 * s.n);
  add_if(s.cosine && (device || !s.once), "norms", 8 * s.n);
  add_if(s.draws && !s.two_level && !device, "first centres", 8 * s.iterated + s.sampled + s.sampled / s.number);
  add_if(s.clustering && s.two_level, "numbers of points", 16 * s.iterated);
  if (!device)
    for (const MemoryUse& use : copies(s)) uses.push_back(use);
  return uses;
}

Uses device_memory(const Needs& s, bool in_blocks) {
  // Kept from pass to pass: labels, centres old and new, two limbs of every sum.
  Uses uses = {{"points", s.points.bytes}, {"labels", 4 * s.n}};
  if (s.iterates) uses.push_back({"clusters", 32 * s.kd + 88 * s.clusters});
  if (s.uses.weighted) uses.push_back({"weights", 8 * s.n});
  // Distances, and which candidate is nearest.
  if (s.draws && !s.two_level) uses.push_back({"first centres", 12 * s.iterated + 2 * s.sampled});
  for (const MemoryUse& use : copies(s)) uses.push_back(use);
  // Centres as they are given and as kernels want them, sums, and a distance for each of so many points.
  constexpr std::uint64_t distances_at_once = std::uint64_t{1} << 24;
  uses.push_back({"centres and sums", 48 * s.kd + 8 * std::min(s.n, distances_at_once)});
  if (in_blocks) return uses;
  uses.push_back({"lists", listed_bytes * std::min(s.n, static_cast<std::uint64_t>(most_listed_rows))});
  constexpr std::uint64_t most_columns_in_registers = 128;
  if (s.d > most_columns_in_registers)
    uses.push_back({"products with centres", static_cast<std::uint64_t>(candidate_bytes) * s.n +
                                                 2 * static_cast<std::uint64_t>(most_product_bytes)});
  if (s.unit_bytes > 0) uses.push_back({"points of unit length", s.unit_bytes * s.n});
  return uses;
}

bool fits(const Uses& uses, std::uint64_t limit) { return limit == 0 || total_bytes(uses) <= limit; }

/// Blocks that are held instead of all points.
struct Blocks {
  index_t buffers;
  std::uint64_t largest;     ///< bytes of one
  std::uint64_t beside = 0;  ///< bytes for each of its rows
};

/// Their size; `uses`, which tell all points first, tell them then.
std::uint64_t block_of(const std::string& what, Uses& uses, std::uint64_t limit, const PointsShape& points,
                       const Blocks& blocks) {
  const auto row = static_cast<std::uint64_t>(points.cols * size_of(points.type));
  const std::uint64_t each = static_cast<std::uint64_t>(blocks.buffers) * row + blocks.beside, least = chunk_rows;
  uses.front() = {std::to_string(blocks.buffers) + " blocks of points", each * least};
  expect_memory(what, uses, limit);
  const std::uint64_t most = std::max(least, blocks.largest / row);
  const std::uint64_t rows = limit == 0 ? most : std::min(most, least + (limit - total_bytes(uses)) / each);
  uses.front().bytes = each * rows;
  return rows * row;
}

/// True if points may be read in blocks. Two levels need all: the clusters are gathered one by one.
bool passes_by(const Needs& s) {
  return !s.clustering || s.o.algorithm == KMeansAlgorithm::lloyd || (s.two_level && s.on_sample);
}

void place_on_host(Placement& p, const Needs& s, std::uint64_t limit) {
  if (!s.once && fits(p.host_uses, limit)) return;
  const std::string what = "clustering " + s.points.name;
  if (!s.points.by_rows || s.uses.transforms || !passes_by(s))
    expect_memory(
        what +
            " (only dense points in an HDF5 or .npy file, stored by rows, can be read in blocks, by `algorithm` "
            "lloyd or `predict`, without `transform`; by two-level with `sample`)",
        p.host_uses, limit);
  p.in_host = false;
  p.host_block = block_of(what + " block by block", p.host_uses, limit, s.points,
                          {StreamedRows::host_buffers,
                           s.once ? labelled_block(s.points, s.uses.threads, s.o.clusters) : largest_host_block});
}

/// Decides if the device holds all points or blocks of them.
void place_on_device(Placement& p, const Needs& s, const std::string& what, std::uint64_t limit) {
  p.device_uses = device_memory(s, false);
  p.on_device = !s.once && fits(p.device_uses, limit);
  if (p.on_device) {
    p.device_block = std::min(largest_device_block, std::max<std::uint64_t>(1, s.points.bytes));
    return;
  }
  if (!passes_by(s))
    expect_memory(
        what + " (only `algorithm` lloyd and `predict` can send points in blocks, and two-level with `sample`)",
        p.device_uses, limit);
  // All starts share the passes over the blocks, each with labels and clusters of its own.
  p.device_uses = device_memory(s, true);  // lists and unit points are those of a block
  if (s.clustering)
    for (const std::size_t each : {1, 2})
      p.device_uses[each].bytes *= s.uses.results * static_cast<std::size_t>(std::max(1, s.o.n_init));
  p.device_block = block_of(what + " block by block", p.device_uses, limit, s.points,
                            {StreamedRows::device_buffers, largest_device_block, listed_bytes + s.unit_bytes});
}

}  // namespace

Placement place_points(const KMeansOptions& options, const KMeansUses& uses, const PointsShape& points,
                       const MachineMemory& machine) {
  const Needs s{options, uses, points};
  Placement p;
  p.host_uses = host_memory(s, machine.has_device);
  if (!machine.has_device) {
    place_on_host(p, s, machine.host_bytes);
    return p;
  }
  expects(!points.sparse, "sparse points are clustered on the processor only");
  const std::string what = "clustering " + points.name + " on a GPU";
  place_on_device(p, s, what, machine.device_bytes);
  // From their file, or by way of host memory if that is where they are needed again and again.
  Uses by_host = p.host_uses;
  by_host.push_back({"blocks on their way", StreamedRows::pinned_buffers * p.device_block});
  if (points.by_rows && !uses.transforms && (p.on_device || s.once || !fits(by_host, machine.host_bytes))) {
    p.in_host = false;
    p.host_block =
        block_of(what, p.host_uses, machine.host_bytes, points, {StreamedRows::pinned_buffers, p.device_block});
    p.device_block = std::min(p.device_block, p.host_block);
  } else {
    p.host_uses = std::move(by_host);
    expect_memory(what, p.host_uses, machine.host_bytes);
  }
  return p;
}

PlacedRows::PlacedRows(const Placement& place, const std::optional<Rows>& in_host,
                       const std::function<RowOrigin()>& read, const cuda::Stream& stream) {
  if (place.in_host) here_ = std::make_unique<RowsInMemory>(*in_host);
  if (place.in_host && !stream) return;
  const RowOrigin origin = place.in_host ? RowOrigin::memory(*in_host) : read();
  if (!place.in_host) here_ = std::make_unique<StreamedRows>(origin, place.host_block);
  if (!stream) return;
  if (place.on_device) {
    on_device_.emplace(stream, origin, place.device_block);
    there_ = std::make_unique<RowsInMemory>(on_device_->rows());
  } else {
    there_ = std::make_unique<StreamedRows>(origin, place.device_block, stream);
  }
}

}  // namespace ts::inline v0::solvers
