#include "tallskinny/app/tskmeans/plan.hpp"

#include <iostream>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/solvers/kmeans/pass/pass.hpp"

namespace ts::tskmeans {

namespace {

/// Memory that the run may use: the machine's, or --memory if that is less.
solvers::MachineMemory within_memory(const ProgramOptions& o, solvers::MachineMemory machine) {
  for (std::uint64_t* bytes : {&machine.host_bytes, &machine.device_bytes})
    if (o.memory != 0) *bytes = *bytes == 0 ? o.memory : std::min(o.memory, *bytes);
  return machine;
}

}  // namespace

app::RanksPlan who_works(const ProgramOptions& o, const io::Description& points, int ranks) {
  const auto alone = [](std::string why) { return app::RanksPlan{false, std::move(why)}; };
  using solvers::KMeansAlgorithm;
  if (o.kmeans.algorithm == KMeansAlgorithm::bisecting || o.kmeans.algorithm == KMeansAlgorithm::balanced)
    return alone("--algorithm " + name_of(o.kmeans.algorithm) + " needs all points in one place");
  // Sums are those of chunks: each rank has one at least, and two do not pay.
  const index_t few = chunk_rows * std::max(2, ranks - 1);
  if (points.rows <= few) return alone("up to " + app::grouped(few) + " points are too few to share");
  return {};
}

solvers::Placement place_points(const ProgramOptions& o, const io::Description& points, index_t k,
                                const solvers::MachineMemory& machine) {
  expects(!points.sparse || !machine.has_device, "sparse points are clustered on the processor only: use --device cpu");
  const solvers::KMeansUses uses{.predicts = !o.predict.empty(),
                                 .transforms = o.transform,
                                 .measures = o.measures,
                                 .weighted = !o.weights.empty(),
                                 .verifies = o.verify || o.verify_sample > 0,
                                 .results = std::max<std::size_t>(1, o.clusters.size()),
                                 .threads = default_threads()};
  const solvers::PointsShape shape{
      points.where.text(), points.rows,  points.cols,   points.nonzeros,
      points.type,         points.bytes, points.sparse, io::RowReader::reads(points, o.read)};
  solvers::KMeansOptions options = o.kmeans;
  options.clusters = k;
  options.init = init_of(o.init).value_or(solvers::KMeansInit::given);
  try {
    return solvers::place_points(options, uses, shape, within_memory(o, machine));
  } catch (const Error& error) {
    throw Error(error.code(), app::with_flags(error.what()), error.where());
  }
}

void print_plan(const ProgramOptions& o, const io::Description& points, const io::Description& here, index_t k,
                const solvers::MachineMemory& machine) {
  const solvers::Placement place = place_points(o, here, k, machine);
  const solvers::MachineMemory limits = within_memory(o, machine);
  const double products = static_cast<double>(points.nonzeros) * static_cast<double>(k);
  const std::string instructions(assign_instructions({}));
  if (o.common.json) {
    app::JsonObject json = app::JsonObject::of_schema("tskmeans");
    json.add("input", points.where.text()).add("dry_run", true);
    json.add("rows", points.rows).add("cols", points.cols).add("sparse", points.sparse);
    if (here.rows < points.rows) json.add("rows_of_rank_0", here.rows);
    json.add("n_clusters", k);
    json.add("flops_per_iteration", 2 * products).add("bytes_per_iteration", points.bytes);
    if (!machine.has_device) json.add("instructions", instructions);
    json.add("block_bytes", place.host_block);
    app::add_memory(json, place.host_uses, limits.host_bytes);
    if (machine.has_device) {
      app::JsonObject there;
      there.add("points_stay", place.on_device).add("block_bytes", place.device_block);
      app::add_memory(there, place.device_uses, limits.device_bytes);
      json.add("on_device", there);
    }
    std::cout << json.text() << '\n';
    return;
  }
  std::cout << points.where.text() << ": " << app::grouped(points.rows) << " points x " << app::grouped(points.cols)
            << " features (" << points.stored_type << (points.sparse ? ", sparse" : ", dense") << ")\n"
            << (o.predict.empty() ? "k-means" : "nearest centre") << " with " << app::grouped(k) << " clusters on the "
            << (machine.has_device ? "GPU" : "processor (" + instructions + ')')
            << ": one pass over the points for each iteration, " << app::short_number(2 * products / 1e9, 3)
            << " GFlop and " << app::human_bytes(points.bytes) << " each\n";
  if (machine.has_device && !place.on_device)
    std::cout << (o.predict.empty() ? "the points do not fit into the GPU's memory: " : "") << "sent from "
              << (place.in_host ? "host memory" : "their file") << " in blocks of "
              << app::human_bytes(place.device_block) << (o.predict.empty() ? " in every pass\n" : "\n");
  else if (!machine.has_device && !place.in_host)
    std::cout << (o.predict.empty() ? "the points do not fit: " : "") << "read from the file in blocks of "
              << app::human_bytes(place.host_block) << '\n';
  if (here.rows < points.rows)
    std::cout << "rank 0 has " << app::grouped(here.rows) << " of the points, and for them\n";
  app::print_memory(std::cout, place.host_uses, limits.host_bytes);
  if (machine.has_device) {
    std::cout << "on the GPU:\n";
    app::print_memory(std::cout, place.device_uses, limits.device_bytes);
  }
}

}  // namespace ts::tskmeans
