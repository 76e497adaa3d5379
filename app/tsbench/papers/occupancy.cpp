#include "tallskinny/app/tsbench/papers/occupancy.hpp"

#include <array>
#include <ostream>

#include "tallskinny/app/tsbench/gpu/clock.hpp"
#include "tallskinny/app/tsbench/gpu/device_sources.hpp"
#include "tallskinny/app/tsbench/kernels/policy.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::bench {

namespace {

constexpr int streams[] = {1, 4, 16};

struct Row {
  int sixteenths;               ///< of the threads that a multiprocessor can hold; 0: one block of the whole device
  std::array<double, 3> paper;  ///< GB/s read on a V100, by streams
};
constexpr Row rows[] = {{0, {3.0, 10.1, 16.3}}, {1, {228, 629, 815}}, {2, {419, 824, 877}},
                        {4, {681, 872, 884}},   {8, {834, 884, 887}}, {16, {879, 891, 877}}};

cuda::KernelPlan streams_plan(const cuda::DeviceInfo& device, const Row& row, int count, bool writes) {
  cuda::KernelPlan plan = cuda::plan_of("roof_streams", RoofStreamsPolicy{count, writes});
  plan.beside = device_sources;
  plan.block = RoofStreamsPolicy::threads;
  const int blocks = device.threads_per_multiprocessor / RoofStreamsPolicy::threads * row.sixteenths / 16;
  plan.grid = row.sixteenths == 0 ? 1 : static_cast<unsigned>(device.multiprocessors * blocks);
  return plan;
}

}  // namespace

std::vector<cuda::KernelPlan> occupancy_plans(const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelPlan> plans;
  for (const int count : streams)
    for (const bool writes : {false, true}) plans.push_back(streams_plan(device, rows[1], count, writes));
  return plans;
}

void print_occupancy(std::ostream& out, const Context& ctx, const cuda::Memory& source, const cuda::Memory& target) {
  out << format("%-18s %30s   %30s   %30s\n", "occupancy", "read GB/s with 1, 4, 16 streams", "scaled copy GB/s",
                "paper (V100), read GB/s");
  for (const Row& row : rows) {
    std::string cells[3];
    for (std::size_t s = 0; s < std::size(streams); ++s) {
      for (const bool writes : {false, true}) {
        const cuda::KernelPlan plan = streams_plan(ctx.stream.device(), row, streams[s], writes);
        const index_t at_once = static_cast<index_t>(plan.grid) * 128 * streams[s];
        const auto most = static_cast<index_t>(std::min(source.bytes(), target.bytes()) / sizeof(double));
        const index_t count = (row.sixteenths == 0 ? most / 64 : most) / at_once * at_once;
        const double seconds = best_seconds(ctx, 3, [&] {
          cuda::launch_with<RoofStreamsPolicy>(
              ctx, plan, {static_cast<const double*>(source.data()), static_cast<double*>(target.data()), count});
        });
        cells[writes ? 1 : 0] += format(" %9.1f", (writes ? 16e-9 : 8e-9) * static_cast<double>(count) / seconds);
      }
      cells[2] += format(" %9.1f", row.paper[s]);
    }
    const std::string name = row.sixteenths == 0 ? "1 block, 4 warps" : format("%.2f %%", 6.25 * row.sixteenths);
    out << format("%-18s %30s   %30s   %30s\n", name.c_str(), cells[0].c_str(), cells[1].c_str(), cells[2].c_str());
  }
}

}  // namespace ts::bench
