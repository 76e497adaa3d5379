#include "tallskinny/gemm/plan/gpu_plan.hpp"

#include <algorithm>
#include <iterator>

#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"

namespace ts::inline v0::cuda {

namespace {

double peak_flops(DType type, const DeviceInfo& d) {
  switch (scalar_bytes(type)) {
    case 8: return std::max(d.float64_flops, d.float64_tensor_flops);
    case 4: return std::max(d.float32_flops, d.tf32_tensor_flops / 3);
    default: return d.half_tensor_flops;
  }
}

std::string form_text(const Form& f) {
  return std::string(f.layout == Layout::row_major ? "row-major" : "column-major") +
         (f.contiguous ? "" : " with gaps") + ", " + std::to_string(f.alignment) + "-byte aligned";
}

}  // namespace

LeastTimes least_times(const Problem& problem, const DeviceInfo& device) {
  const Cost cost = cost_of(problem);
  const bool writes = cost.written_bytes * 20 > cost.read_bytes;
  return {cost.bytes() / (writes ? device.copy_bytes_per_second : device.read_bytes_per_second),
          cost.flops / peak_flops(problem.type, device)};
}

std::vector<Candidate> ranked_candidates(const GpuProblem& problem, const DeviceInfo& device, std::string_view family) {
  std::vector<Candidate> all;
  for (const Family& each : families()) {
    if (!family.empty() && each.name != family) continue;
    std::vector<Candidate> some = each.candidates(problem, device);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& x, const Candidate& y) { return x.seconds < y.seconds; });
  return all;
}

std::optional<LibraryChoice> library_choice(const GpuProblem& problem, const DeviceInfo& device,
                                            std::span<const Candidate> ranked) {
  if (!device.libraries || !is_tuned(problem)) return {};
  const TunedChoice* const tuned = device.tuned == nullptr ? nullptr : device.tuned->find(problem);
  // Calls for other operations have no model.
  const Operation op = problem.problem.operation;
  const bool modelled = op == Operation::gram || op == Operation::tsmttsm || op == Operation::tsmm;
  LibraryChoice best;
  for (const Family& library : libraries())
    for (Candidate& candidate : library.candidates(problem, device)) {
      if (tuned != nullptr && has_defines(candidate.kernel, tuned->defines))
        return LibraryChoice{std::move(candidate.kernel), candidate.seconds, tuned->gain};
      if (modelled && (best.seconds == 0 || candidate.seconds < best.seconds))
        best.kernel = std::move(candidate.kernel), best.seconds = candidate.seconds;
    }
  if (tuned != nullptr || best.seconds == 0) return {};
  constexpr double sure = 0.95;  // of the engine's time
  if (ranked.empty() || best.seconds > sure * ranked.front().seconds) return {};
  best.own_seconds = ranked.front().seconds;
  return best;
}

namespace {

/// The candidate of one family, or of all, that serves `plan.problem` best.
void choose_kernel(GpuPlan& plan, const DeviceInfo& device, const std::string& family,
                   std::span<const Candidate> ranked) {
  const Problem& pr = plan.problem.problem;
  if (ranked.empty())
    throw Error(Errc::invalid_argument,
                std::string(name_of(pr.operation)) + " of " + std::string(name_of(pr.type)) + " with widths " +
                    std::to_string(pr.p) + " and " + std::to_string(pr.q) +
                    (family.empty() ? " has no kernel for " : " cannot run with " + family + " on ") + device.name);
  const Candidate* chosen = &ranked.front();
  const TunedChoice* const tuned = device.tuned == nullptr ? nullptr : device.tuned->find(plan.problem);
  if (tuned != nullptr)
    for (const Candidate& candidate : ranked)
      if (plan.gain == 0 && has_defines(candidate.kernel, tuned->defines)) chosen = &candidate, plan.gain = tuned->gain;
  plan.seconds = chosen->seconds, plan.kernel = chosen->kernel;
}

}  // namespace

GpuPlan make_plan(const GpuProblem& problem, const DeviceInfo& device, const GpuOverrides& wish,
                  std::span<const Candidate> ranked) {
  GpuPlan plan;
  plan.problem = problem;
  plan.cost = cost_of(problem.problem);
  const LeastTimes limits = least_times(problem.problem, device);
  plan.memory_seconds = limits.memory_seconds, plan.arithmetic_seconds = limits.arithmetic_seconds;
  plan.launch_seconds = device.launch_seconds;
  const auto named = [&](const Family& family) { return family.name == wish.family; };
  if (!wish.family.empty() && std::none_of(families().begin(), families().end(), named))
    throw Error(Errc::invalid_argument, "there is no kernel family called '" + wish.family + "'");
  if (auto choice = wish.libraries && wish.family.empty() ? library_choice(problem, device, ranked) : std::nullopt)
    plan.kernel = std::move(choice->kernel), plan.seconds = choice->seconds, plan.gain = choice->gain,
    plan.own_seconds = choice->own_seconds;
  else
    choose_kernel(plan, device, wish.family, ranked);
  const double work = std::max(plan.memory_seconds, plan.arithmetic_seconds);
  plan.bound = plan.launch_seconds > work                      ? Bound::launch
               : plan.arithmetic_seconds > plan.memory_seconds ? Bound::arithmetic
                                                               : Bound::memory;
  return plan;
}

std::string explain(const GpuPlan& plan, const DeviceInfo& device) {
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += format("%-12s %s\n", name, value.c_str());
  };
  const Problem& problem = plan.problem.problem;
  line("problem",
       std::string(name_of(problem.operation)) + " " + std::string(name_of(problem.type)) + ", " + shape_text(problem));
  line("operands", form_text(plan.problem.first) + "; " + form_text(plan.problem.second) + "; result " +
                       form_text(plan.problem.out));
  line("device", device.name + format(", %s, %d multiprocessors", device.arch().c_str(), device.multiprocessors));
  line("moves", format("%s read, %s written, %s", bytes_text(plan.cost.read_bytes).c_str(),
                       bytes_text(plan.cost.written_bytes).c_str(), flops_text(plan.cost.flops).c_str()));
  line("at best", format("memory %s, arithmetic %s, launch %s: %s-bound", time_text(plan.memory_seconds).c_str(),
                         time_text(plan.arithmetic_seconds).c_str(), time_text(plan.launch_seconds).c_str(),
                         std::string(name_of(plan.bound)).c_str()));
  line("predicted", time_text(plan.seconds));
  std::string kernel(plan.kernel.family);
  for (const auto& [name, value] : defines_of(plan.kernel)) kernel.append(" ").append(name).append("=").append(value);
  line("kernel", kernel);
  line("chosen by",
       plan.gain > 0          ? format("the device's tuned table: %.3f times as fast as the model's choice", plan.gain)
       : plan.own_seconds > 0 ? "the model: the engine's kernels are predicted to take " + time_text(plan.own_seconds)
                              : std::string("the model"));
  if (plan.kernel.grid == 0) {
    line("launch", plan.kernel.policy.name.empty() ? "several kernels, of pieces" : "a call of the library");
    return text;
  }
  line("launch", format("%u blocks of %u threads, %s of shared memory, %s of workspace", plan.kernel.grid,
                        plan.kernel.block, bytes_text(static_cast<double>(plan.kernel.shared_bytes)).c_str(),
                        bytes_text(static_cast<double>(plan.kernel.workspace_bytes)).c_str()));
  return text;
}

}  // namespace ts::inline v0::cuda
