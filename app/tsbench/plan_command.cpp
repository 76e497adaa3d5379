#include <iostream>
#include <sstream>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/architectures.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"

namespace ts::bench {

namespace {

/// The problem that a command line asks about; complete once Options::parse() and finish() have been called.
struct Asked {
  std::string operation, type;
  index_t nonzeros_per_row = 7;

  void add_to(app::Options& options, Problem& problem) {
    options.positional("OP", operation, "the operation")
        .positional("TYPE", type, dtype_names(" or "))
        .positional("n", problem.n, "rows")
        .positional("m", problem.p, "columns of the first operand")
        .positional("k", problem.q, "columns of the second operand", false)
        .value("nonzeros-per-row", "N", nonzeros_per_row, "of the sparse matrix of spmm",
               app::at_least<std::int64_t>(0));
  }
  void finish(Problem& problem) const {
    problem.operation = parse_operation(operation);
    problem.type = parse_dtype(type);
    problem.nonzeros = nonzeros_per_row * problem.n;
  }
};

app::JsonObject plan_json(const Plan& plan, const ProcessorInfo& device) {
  std::ostringstream line;
  line << plan;
  const Problem& p = plan.problem;
  auto json = app::JsonObject::of_schema("tsbench-plan");
  json.add("operation", name_of(p.operation)).add("type", name_of(p.type)).add("n", p.n).add("p", p.p).add("q", p.q);
  json.add("device", device.name).add("threads", plan.threads).add("kernel", plan.kernel);
  json.add("simd", name_of(plan.simd)).add("lanes", plan.lanes).add("fold", plan.fold);
  json.add("tile_rows", plan.tile_rows).add("tile_cols", plan.tile_cols);
  json.add("chunk_rows", plan.chunk_rows).add("chunks", plan.chunks).add("streaming_stores", plan.streaming_stores);
  json.add("tile_utilisation", plan.tile_utilisation).add("wave_utilisation", plan.wave_utilisation);
  json.add("read_bytes", plan.cost.read_bytes).add("written_bytes", plan.cost.written_bytes);
  json.add("flops", plan.cost.flops).add("memory_seconds", plan.memory_seconds);
  json.add("arithmetic_seconds", plan.arithmetic_seconds).add("launch_seconds", plan.launch_seconds);
  json.add("predicted_seconds", plan.seconds).add("bound", name_of(plan.bound)).add("summary", line.str());
  return json;
}

void print_compiled(const cuda::KernelPlan& plan, const std::string& arch) {
  const cuda::CompileJob job = cuda::job_of(plan, arch);
  std::string options;
  for (const std::string& option : cuda::options_of(job)) options += (options.empty() ? "" : " ") + option;
  const cuda::Compiled compiled = cuda::compile(job);
  const cuda::Attributes& a = compiled.attributes;
  std::cout << format("%-12s %s.cuh by NVRTC %s in %s%s\n", "compiled", job.family.c_str(),
                      cuda::compiler_version().c_str(), time_text(compiled.seconds).c_str(),
                      compiled.origin == cuda::KernelOrigin::compiler ? "" : ", compiled before")
            << format("%-12s %s\n", "options", options.c_str())
            << format(
                   "%-12s %d of %d registers a thread, %d bytes of static shared memory, %d bytes of stack, "
                   "%d bytes of spills\n",
                   "uses", a.registers, plan.budget.registers, a.shared_bytes, a.stack_bytes,
                   a.spill_store_bytes + a.spill_load_bytes);
  cuda::expect_within_budget(plan, a);
}

}  // namespace

int plan_command(app::Arguments arguments) {
  Asked asked;
  Problem problem;
  PlanOverrides overrides;
  bool json = false, beta = false, strided = false;

  app::Options options(
      {"tsbench plan",
       "What an operation would do on this processor, and why.",
       "OP TYPE n m k [options]",
       {{"A^H B with A 10 million x 8 and B 10 million x 4", "tsbench plan tsmttsm complex128 1e7 8 4"},
        {"X S with X a million x 3 on one thread", "tsbench plan tsmm float16 1e6 3 3 --threads 1"}},
       "OP is one of tsmttsm, gram, tsmm, tsmm_in_place, tsm2r, spmm, inner_and_gram, project_out, "
       "column_norms and trsm; m and k are the widths of its two operands (for tsm2r and spmm: the "
       "columns of the large matrix and of the block). Bandwidths are assumed, not measured; "
       "tsbench engine measures them."});
  asked.add_to(options, problem);
  options.flag("json", json, "print one JSON object")
      .flag("beta", beta, "the output is added to, not replaced")
      .flag("strided", strided, "an operand is column-major or has gaps between its rows")
      .group("Overrides (an error where they cannot be met)")
      .value("threads", "N", overrides.threads, "0: as many as there are", app::at_least(0))
      .choice("simd", overrides.simd, "vector instructions", simd_words());
  if (!options.parse(arguments)) return app::exit_ok;

  asked.finish(problem);
  problem.accumulate = beta;
  problem.contiguous = !strided;

  const Plan plan = make_plan(problem, this_cpu(), overrides);
  std::cout << (json ? plan_json(plan, this_cpu()).text() + "\n" : explain(plan, this_cpu()));
  return app::exit_ok;
}

int kernel_command(app::Arguments arguments) {
  Asked asked;
  std::string arch = cuda::usual_architecture(), layout = "rows";
  cuda::GpuProblem problem;
  cuda::GpuOverrides overrides{{}, true};
  bool source = false, gaps = false;
  app::Options options(
      {"tsbench kernel",
       "The kernel that a GPU would run for an operation: its plan, how it compiles, what it uses. Needs no "
       "GPU.",
       "OP TYPE n m k [options]",
       {{"norms of 12 columns", "tsbench kernel column_norms float64 1e8 12"},
        {"the source of a sparse product", "tsbench kernel spmm float32 1e6 1e6 8 --source"}},
       "Exit code 1 when the kernel spills or exceeds its budget of registers and shared memory."});
  asked.add_to(options, problem.problem);
  options.value("arch", "ARCH", arch, cuda::architecture_names(" or "))
      .value("family", "NAME", overrides.family, "only kernels of this family")
      .value("layout", "rows|columns", layout, "of the tall operands")
      .flag("gaps", gaps, "tall operands have gaps between their lines and the least alignment")
      .flag("source", source, "print the source too");
  if (!options.parse(arguments)) return app::exit_ok;

  asked.finish(problem.problem);
  const bool inner = problem.problem.operation == Operation::tsmttsm || problem.problem.operation == Operation::gram;
  problem.op = inner ? Op::adjoint : Op::none;
  expects(layout == "rows" || layout == "columns", "--layout: expected rows or columns");
  cuda::Form form;
  if (layout == "columns") form.layout = Layout::col_major;
  if (gaps) form.contiguous = false, form.alignment = std::min(8, static_cast<int>(size_of(problem.problem.type)));
  problem.first = problem.second = form;
  if (!inner) problem.out = form;
  problem.out.alignment = std::max(problem.out.alignment, 4);

  const cuda::DeviceInfo device = cuda::typical_device(arch);
  const cuda::GpuPlan plan = cuda::make_plan(problem, device, overrides);
  std::cout << explain(plan, device);
  if (plan.kernel.grid == 0) return app::exit_ok;
  print_compiled(plan.kernel, device.arch());
  if (source) std::cout << "\n" << cuda::source_of(plan.kernel.family).text;
  return app::exit_ok;
}

}  // namespace ts::bench
