#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"

namespace ts::inline v0::cuda {

CompileJob job_of(const KernelPlan& plan, const std::string& arch) {
  return {std::string(plan.family), plan.members, arch, plan.beside, plan.policy};
}

std::string program_of(const CompileJob& job) {
  const auto include = [](std::string_view name) { return "#include \"" + std::string(name) + "\"\n"; };
  std::string text;
  if (!job.policy.name.empty()) {
    const std::string type(job.policy.name);
    // The members' own types are named by decltype: a value's text is a number, whatever its type.
    text = include(job.policy.header) + "constexpr " + type + " policy{";
    for (const auto& [name, value] : defines_of(job.policy, job.members)) {
      text.append("\n    .").append(name).append(" = static_cast<decltype(").append(type).append("::");
      text.append(name).append(")>(").append(value).append("),");
    }
    text += "};\n";
  }
  return text + include(source_of(job.family, job.beside).name);
}

Defines defines_of(const PolicyType& type, std::span<const index_t> members) {
  Defines defines;
  std::string_view names = type.members;
  for (const index_t value : members) {
    const std::size_t comma = std::min(names.find(','), names.size());
    defines.emplace_back(names.substr(0, comma), std::to_string(value));
    names.remove_prefix(std::min(comma + 2, names.size()));
  }
  return defines;
}

void expect_policy(const KernelPlan& plan, const PolicyType& type) {
  if (plan.policy != type)
    throw Error(Errc::invalid_argument, "the kernel " + std::string(plan.family) + " has the policy '" +
                                            std::string(plan.policy.name) + "', not '" + std::string(type.name) + "'");
}

const Source& source_of(std::string_view family, SourceFiles beside) {
  for (const SourceFiles files : {SourceFiles{sources}, beside})
    if (files != nullptr)
      for (const Source& s : files())
        if (s.name.ends_with("/" + std::string(family) + ".cuh")) return s;
  throw Error(Errc::invalid_argument, "the library has no kernel source called " + std::string(family) + ".cuh");
}

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
  over("bytes of local memory", a.stack_bytes, 8);  // the assembler takes these for tensor maps on some chips
  over("registers", a.registers, plan.budget.registers);
  over("bytes of static shared memory", a.shared_bytes, plan.budget.shared_bytes);
  over("registers in a block", (a.registers + 7) / 8 * 8 * static_cast<int>(plan.block), registers_per_block);
}

}  // namespace ts::inline v0::cuda
