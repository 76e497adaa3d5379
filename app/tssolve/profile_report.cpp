#include "tallskinny/app/tssolve/report.hpp"

#include <algorithm>
#include <ostream>

#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/common/roofs.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::app::tssolve {

namespace {

Roofs roofs_of_gpu(const Context& ctx) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const auto bytes = static_cast<std::size_t>(std::min(most, cuda::free_memory(ctx.stream) / 8));
  cuda::prepare(ctx, roof_plans(ctx.stream.device()));
  const cuda::Memory source(ctx.stream, bytes), target(ctx.stream, bytes);
  const cuda::DeviceInfo rates = measure_gpu_roofs(ctx, source, target);
  return {rates.read_bytes_per_second, rates.copy_bytes_per_second,
          std::max(rates.float64_flops, rates.float64_tensor_flops),
          std::max(rates.float32_flops, rates.tf32_tensor_flops / 3)};
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Time of the run that no kind of work accounts for.
double rest_of(const std::vector<WorkDone>& work, double elapsed) {
  double noted = 0;
  for (const WorkDone& w : work) noted += w.seconds;
  return std::max(0.0, elapsed - noted);
}

double near_roof_of(const std::vector<WorkDone>& work) {
  double seconds = 0;
  for (const WorkDone& w : work) seconds += w.near_roof_seconds;
  return seconds;
}

}  // namespace

std::shared_ptr<Profile> begin_profile(const Context& ctx) {
  return std::make_shared<Profile>(ctx.stream ? roofs_of_gpu(ctx) : measured_roofs(ctx.thread_count()));
}

void print_profile(std::ostream& out, Profile& profile, double elapsed) {
  const auto work = profile.work();
  const Roofs& roofs = profile.roofs();
  out << '\n'
      << format("%-28s %8s %9s %6s %9s %8s %9s %6s\n", "work", "calls", "seconds", "share", "GB moved", "GB/s",
                "Gflop/s", "roof");
  for (const WorkDone& w : work) {
    out << format("%-28s %8s %9.3f %5.1f%% ", std::string(w.what).c_str(), grouped(w.calls).c_str(), w.seconds,
                  100 * share(w.seconds, elapsed));
    const double bytes = w.cost.bytes(), flops = w.cost.flops;
    out << (bytes > 0 ? format("%9.2f %8.1f ", 1e-9 * bytes, 1e-9 * share(bytes, w.seconds))
                      : format("%9s %8s ", "-", "-"))
        << (flops > 0 ? format("%9.1f ", 1e-9 * share(flops, w.seconds)) : format("%9s ", "-"))
        << (w.least_seconds > 0 ? format("%5.0f%%\n", 100 * share(w.least_seconds, w.seconds)) : format("%6s\n", "-"));
  }
  const double rest = rest_of(work, elapsed);
  out << format("%-28s %8s %9.3f %5.1f%%\n", "everything else", "", rest, 100 * share(rest, elapsed))
      << format("roofs measured in this run: read %.1f GB/s, copy %.1f GB/s, float64 %.0f Gflop/s\n",
                1e-9 * roofs.read_bytes_per_second, 1e-9 * roofs.copy_bytes_per_second, 1e-9 * roofs.float64_flops)
      << format("%.1f %% of the time in pieces at %.0f %% of their own roof or more\n",
                100 * share(near_roof_of(work), elapsed), 100 * Profile::near_roof);
}

void add_profile(JsonObject& json, Profile& profile, double elapsed) {
  const auto work = profile.work();
  const Roofs& roofs = profile.roofs();
  std::vector<JsonObject> list;
  for (const WorkDone& w : work) {
    JsonObject one;
    one.add("work", w.what).add("calls", w.calls).add("seconds", w.seconds);
    one.add("share", share(w.seconds, elapsed));
    one.add("bytes", w.cost.bytes()).add("flops", w.cost.flops);
    if (w.least_seconds > 0)
      one.add("roof_share", share(w.least_seconds, w.seconds));
    else
      one.add_null("roof_share");
    one.add("near_roof_seconds", w.near_roof_seconds);
    list.push_back(one);
  }
  JsonObject measured;
  measured.add("read_bytes_per_second", roofs.read_bytes_per_second)
      .add("copy_bytes_per_second", roofs.copy_bytes_per_second)
      .add("float64_flops", roofs.float64_flops)
      .add("float32_flops", roofs.float32_flops);
  JsonObject out;
  out.add("work", list)
      .add("other_seconds", rest_of(work, elapsed))
      .add("roofs", measured)
      .add("near_roof", Profile::near_roof)
      .add("near_roof_share", share(near_roof_of(work), elapsed));
  json.add("profile", out);
}

}  // namespace ts::app::tssolve
