#include <iostream>

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

int kernel_command(app::Arguments arguments) {
  std::string operation, type, arch = cuda::usual_architecture(), layout = "rows";
  cuda::GpuProblem problem;
  cuda::GpuOverrides wish{{}, true};
  bool source = false, gaps = false;
  index_t nonzeros_per_row = 7;
  app::Options options(
      {"tsbench kernel",
       "The kernel that a GPU would run for an operation: its plan, how it compiles, what it uses. Needs no "
       "GPU.",
       "OP TYPE n m k [options]",
       {{"norms of 12 columns", "tsbench kernel column_norms float64 1e8 12"},
        {"the source of a sparse product", "tsbench kernel spmm float32 1e6 1e6 8 --source"}},
       "Exit code 1 when the kernel spills or exceeds its budget of registers and shared memory."});
  options.positional("OP", operation, "the operation")
      .positional("TYPE", type, dtype_names(" or "))
      .positional("n", problem.problem.n, "rows")
      .positional("m", problem.problem.p, "columns of the first operand")
      .positional("k", problem.problem.q, "columns of the second operand", false)
      .value("arch", "ARCH", arch, cuda::architecture_names(" or "))
      .value("family", "NAME", wish.family, "only kernels of this family")
      .value("layout", "rows|columns", layout, "of the tall operands")
      .flag("gaps", gaps, "tall operands have gaps between their lines and the least alignment")
      .value("nonzeros-per-row", "N", nonzeros_per_row, "of the sparse matrix of spmm", app::at_least<std::int64_t>(0))
      .flag("source", source, "print the source too");
  if (!options.parse(arguments)) return app::exit_ok;

  problem.problem.operation = parse_operation(operation);
  problem.problem.type = parse_dtype(type);
  problem.problem.nonzeros = nonzeros_per_row * problem.problem.n;
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
  const cuda::GpuPlan plan = cuda::make_plan(problem, device, wish);
  std::cout << explain(plan, device);
  if (plan.kernel.grid == 0) return app::exit_ok;
  print_compiled(plan.kernel, device.arch());
  if (source) std::cout << "\n" << cuda::source_of(plan.kernel.family).text;
  return app::exit_ok;
}

}  // namespace ts::bench
