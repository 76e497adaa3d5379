#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/architectures.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::bench {

namespace {

/// TB/s for rings of so many chunks (across) of so many KiB (down) in the shared memory of each multiprocessor.
void print_rings(const Context& ctx, const cuda::Memory& source, const cuda::Memory& target) {
  constexpr int chunk_kib[] = {4, 8, 16, 32}, stages[] = {1, 2, 3, 4, 6, 8, 12};
  std::cout << "TB/s by chunks under way\n   KiB";
  for (const int count : stages) std::cout << format("%7d", count);
  for (const int kib : chunk_kib) {
    std::cout << format("\n%6d", kib);
    for (const int count : stages)
      if (count * kib * 1024 < ctx.stream.device().shared_bytes_per_block - 1024)
        std::cout << format("%7.2f", 1e-12 * app::read_rate(ctx, source, target, {kib << 10, count}));
  }
  std::cout << '\n';
}

}  // namespace

int probe_command(app::Arguments arguments) {
  app::Options options({"tsbench probe",
                        "Measures the rates by which plans are made for this GPU, and keeps them for later runs.",
                        "",
                        {{"once for a GPU and driver", "tsbench probe"}},
                        "The rates go to the user's cache folder. Plans take those that differ from what is "
                        "assumed for the kind of GPU by "
                        "more than an eighth, rounded, so that equal runs give equal bits until rates are "
                        "measured anew. Programs that run "
                        "keep the rates that they began with."});
  if (!options.parse(arguments)) return app::exit_ok;
  app::Console console("tsbench", false);
  Context ctx;
  ctx.log = [&console](std::string_view line) { console.note(line); };
  ctx.stream = cuda::Stream(0);
  const cuda::DeviceInfo& device = ctx.stream.device();
  cuda::prepare(ctx, app::roof_plans(device));
  const std::size_t bytes = std::min(std::size_t{1} << 30, static_cast<std::size_t>(device.memory_bytes / 8));
  const cuda::Memory source(ctx.stream, bytes), target(ctx.stream, bytes);
  cuda::fill_bytes(ctx.stream, source.data(), 0x5a, bytes);
  const Stopwatch watch;
  const cuda::DeviceInfo measured = app::measure_gpu_roofs(ctx, source, target);
  const double seconds = watch.seconds();
  print_gpu_roofs(std::cout, measured);
  cuda::DeviceInfo taken = device;
  cuda::take_rates(taken, cuda::text_of_rates(measured));
  std::cout << format("measured in %.2f s; a kernel starts %s behind another; ", seconds,
                      time_text(measured.launch_seconds).c_str())
            << (taken == device ? "plans stay as they are\n" : "plans take other rates from now on\n");
  cuda::keep_rates(measured);
  if (device.features().bulk_copies) print_rings(ctx, source, target);
  return app::exit_ok;
}

}  // namespace ts::bench
