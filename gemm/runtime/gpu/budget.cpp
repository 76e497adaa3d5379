#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"

namespace ts::inline v0::cuda {

namespace {
constexpr int registers_per_block = 65536;  // of every architecture that kernels are compiled for
}

void expect_within_budget(const KernelPlan& plan, const Attributes& a) {
  const auto fail = [&](const std::string& excess) {
    std::string text = std::string(plan.family) + " with";
    for (const auto& [name, value] : defines_of(plan)) text.append(" ").append(name).append("=").append(value);
    throw Error(Errc::device_failure, text + ": " + excess);
  };
  const auto over = [&](const char* what, int used, int allowed) {
    if (used > allowed) fail(std::to_string(used) + " " + what + " where " + std::to_string(allowed) + " are allowed");
  };
  over("bytes of spills", a.spill_store_bytes + a.spill_load_bytes, 0);
  over("bytes of local memory", a.stack_bytes, 0);
  over("registers", a.registers, plan.budget.registers);
  over("bytes of static shared memory", a.shared_bytes, plan.budget.shared_bytes);
  over("registers in a block", (a.registers + 7) / 8 * 8 * static_cast<int>(plan.block), registers_per_block);
}

}  // namespace ts::inline v0::cuda
