#include "tallskinny/app/tskmeans/plan.hpp"

#include <iostream>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/backend/context.hpp"

namespace ts::tskmeans {

namespace {

std::vector<app::MemoryUse> memory_of(const ProgramOptions& o, const io::Description& points, index_t k) {
  const auto n = static_cast<std::uint64_t>(points.rows), d = static_cast<std::uint64_t>(points.cols);
  const auto kd = static_cast<std::uint64_t>(k) * d;
  Context ctx;
  ctx.threads = o.common.threads;
  const auto threads = static_cast<std::uint64_t>(ctx.thread_count());
  std::vector<app::MemoryUse> uses = {{"points", points.bytes}, {"labels", 4 * n}};
  // Centres in float64, their copies for scoring, and two 64-bit limbs of every sum for every thread.
  uses.push_back({"centres and sums", 40 * kd + 16 * kd * threads});
  if (!o.weights.empty()) uses.push_back({"weights", 8 * n});
  if (o.kmeans.metric == solvers::KMeansMetric::cosine) uses.push_back({"norms", 8 * n});
  const auto init = init_of(o.init);
  if (o.predict.empty() && init == solvers::KMeansInit::random) uses.push_back({"first centres", 16 * n});
  if (o.predict.empty() && init && init != solvers::KMeansInit::random)
    uses.push_back({"first centres", 8 * n});
  return uses;
}

}  // namespace

void print_plan(const ProgramOptions& o, const io::Description& points, index_t k) {
  const auto uses = memory_of(o, points, k);
  const std::uint64_t available = app::available_memory();
  const double products = static_cast<double>(points.nonzeros) * static_cast<double>(k);
  if (o.common.json) {
    app::JsonObject json;
    json.add("input", points.where.text()).add("dry_run", true);
    json.add("rows", points.rows).add("cols", points.cols).add("sparse", points.sparse);
    json.add("n_clusters", k);
    json.add("flops_per_iteration", 2 * products).add("bytes_per_iteration", points.bytes);
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
  app::print_memory(std::cout, uses, available);
}

void expect_memory(const ProgramOptions& o, const io::Description& points, index_t k) {
  app::expect_memory("clustering " + points.where.text(), memory_of(o, points, k), app::available_memory());
}

}  // namespace ts::tskmeans
