// Compiling kernels at run time: (family, policy, architecture) -> machine code. Needs NVRTC but no GPU.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

class KernelPack;

/// What the assembler reports of a kernel.
struct Attributes {
  int registers = 0;     ///< per thread
  int shared_bytes = 0;  ///< static
  int stack_bytes = 0;   ///< local memory of a thread: arrays that did not fit into registers, and spills
  int spill_store_bytes = 0, spill_load_bytes = 0;
  friend bool operator==(const Attributes&, const Attributes&) = default;
};

struct CompileJob {
  std::string family;
  std::vector<index_t> members;  ///< KernelPlan::members
  std::string arch;              ///< DeviceInfo::arch()
  SourceFiles beside = nullptr;  ///< KernelPlan::beside
  PolicyType policy = {};        ///< KernelPlan::policy
};

[[nodiscard]] CompileJob job_of(const KernelPlan& plan, const std::string& arch);
/// The text that is compiled: the policy, if there is one, and the kernel's file.
[[nodiscard]] std::string program_of(const CompileJob& job);

/// Where a kernel came from: the pack beside the library, the user's disk cache, or the compiler.
enum class KernelOrigin { compiler, cache, pack };

struct Compiled {
  std::string cubin, log;  ///< log: what the compiler said
  Attributes attributes;
  KernelOrigin origin = KernelOrigin::compiler;
  double seconds = 0;
};

/// Empty when NVRTC can be loaded, else a clause that says why not.
[[nodiscard]] std::string why_no_compiler();
/// "13.0". @throws Error(no_device) when NVRTC cannot be loaded (as all of what follows).
[[nodiscard]] std::string compiler_version();

/// The options that NVRTC is given for a job, with those of the environment's TALLSKINNY_NVRTC_OPTIONS behind
/// them (words; "-lineinfo" for profilers).
[[nodiscard]] std::vector<std::string> options_of(const CompileJob& job);

/// The kernel, if the pack has it. Needs no compiler.
[[nodiscard]] std::optional<Compiled> find_in(const KernelPack& pack, const CompileJob& job);
/// From the pack beside the library, or else the disk cache, or else the compiler.
/// @throws Error(device_failure) with the compiler's log.
[[nodiscard]] Compiled compile(const CompileJob& job);
/// The same for many jobs on up to `threads` threads (0: as many as there are processors); results in order.
[[nodiscard]] std::vector<Compiled> compile_all(std::span<const CompileJob> jobs, int threads = 0);

/// Compiles the jobs into a pack of kernels (kernel_pack.hpp), which then serves programs with the same sources.
/// @throws Error(bad_input) where the file cannot be written.
void write_kernel_pack(const std::filesystem::path& file, std::span<const CompileJob> jobs, int threads = 0);

/// Throws Error(device_failure) with a sentence that names the kernel and the excess when `attributes` shows
/// spills, or more than the plan's budget, or more threads than the registers allow.
void expect_within_budget(const KernelPlan& plan, const Attributes& attributes);

}  // namespace ts::inline v0::cuda
