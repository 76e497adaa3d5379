#include <ostream>

#include "tallskinny/gemm/plan/plan.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::inline v0 {

namespace {

std::string reason(const Plan& plan, const ProcessorInfo& device) {
  const double intensity = plan.cost.bytes() > 0 ? plan.cost.flops / plan.cost.bytes() : 0;
  const std::string times = format("%.2f flop per byte; memory %s, arithmetic %s, launch %s", intensity,
                                   time_text(plan.memory_seconds).c_str(), time_text(plan.arithmetic_seconds).c_str(),
                                   time_text(plan.launch_seconds).c_str());
  switch (plan.bound) {
    case Bound::memory:
      return times +
             format(": moving the bytes takes longest (%.1f GB/s)", plan.cost.bytes() / plan.memory_seconds * 1e-9);
    case Bound::arithmetic:
      return times + format(": the multiply-adds take longest (%.1f Gflop/s)",
                            plan.cost.flops / plan.arithmetic_seconds * 1e-9);
    case Bound::launch: break;
  }
  return times + format(": too small to pay for starting %d threads", device.threads);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  return out << name_of(plan.problem.operation) << ' ' << name_of(plan.problem.type) << ' ' << shape_text(plan.problem)
             << ": " << plan.kernel << ", " << name_of(plan.simd) << " x " << plan.lanes << ", fold " << plan.fold
             << ", tile " << plan.tile_rows << " x " << plan.tile_cols << ", " << plan.chunks << " chunks of "
             << plan.chunk_rows << " rows, " << plan.threads << " threads, "
             << (plan.streaming_stores ? "streaming stores, " : "") << time_text(plan.seconds) << ", "
             << name_of(plan.bound) << "-bound";
}

std::string explain(const Plan& plan, const ProcessorInfo& device) {
  const auto l = [](index_t i) { return static_cast<long long>(i); };
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += format("%-12s %s\n", name, value.c_str());
  };
  const std::string_view op = name_of(plan.problem.operation), type = name_of(plan.problem.type);
  line("problem", format("%.*s %.*s, %s", static_cast<int>(op.size()), op.data(), static_cast<int>(type.size()),
                         type.data(), shape_text(plan.problem).c_str()));
  line("processor", device.name + format(", %d threads", device.threads));
  line("moves", format("%s read, %s written, %s", bytes_text(plan.cost.read_bytes).c_str(),
                       bytes_text(plan.cost.written_bytes).c_str(), flops_text(plan.cost.flops).c_str()));
  const std::string_view bound = name_of(plan.bound), level = name_of(plan.simd);
  line("predicted", time_text(plan.seconds) + format(", %.*s-bound", static_cast<int>(bound.size()), bound.data()));
  line("because", reason(plan, device));
  line("kernel",
       format("%.*s, %.*s with %d lanes, %s", static_cast<int>(plan.kernel.size()), plan.kernel.data(),
              static_cast<int>(level.size()), level.data(), plan.lanes,
              plan.fold > 1 ? format("%d rows folded into a vector", plan.fold).c_str() : "one row at a time"));
  line("tile", format("%d x %d in registers, %.0f %% of its arithmetic useful", plan.tile_rows, plan.tile_cols,
                      100 * plan.tile_utilisation));
  line("chunks", format("%lld of %lld rows on %d threads, %.0f %% busy", l(plan.chunks), l(plan.chunk_rows),
                        plan.threads, 100 * plan.wave_utilisation));
  line("stores", plan.streaming_stores ? "past the caches: the result is larger than they are" : "through the caches");
  return text;
}

}  // namespace ts::inline v0
