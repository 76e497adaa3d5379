#include "tallskinny/app/tssolve/run.hpp"

#include <future>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/tssolve/hermitian_plan.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/app/tssolve/solve_file.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"

namespace ts::app::tssolve {

namespace {

const CheckpointOptions& with_checked_paths(const Settings& settings) {
  const bool preconditioned = !settings.general && !settings.svd;
  check_output_paths(
      {{"--output", settings.common.output},
       {"--values-out", settings.values_out, true},
       {"--vectors-out", settings.vectors_out, true},
       {"--left-vectors-out", settings.left_vectors_out, true},
       {"--checkpoint", settings.checkpoint.file},
       {"--report", settings.report}},
      {settings.matrix, settings.initial, settings.mass, preconditioned ? settings.preconditioner : std::string()});
  return settings.checkpoint;
}

/// f(solver, task, rows, columns) for what decomposes the matrix as a whole
template <class F>
auto with_dense_solver(const Run& run, const F& f) {
  const io::Description& d = run.facts.input;
  const Space space = run.ctx.stream ? Space::device : Space::host;
  const solvers::DenseTask task = run.plan.whole.value();
  if (is_complex_type(d))
    return f(*solvers::dense_solver<std::complex<double>>(run.ctx.stream, space, task), task, d.rows, d.cols);
  return f(*solvers::dense_solver<double>(run.ctx.stream, space, task), task, d.rows, d.cols);
}

}  // namespace

Run::Run(Settings asked, const Device& on, const Ranks& all)
    : settings(std::move(asked)),
      device(on),
      ranks(all),
      console("tssolve", settings.common.quiet, all.first()),
      location(io::parse_location(settings.matrix)),
      kept("tssolve", 3, with_checked_paths(settings), console) {
  ctx.determinism = settings.determinism.value_or(Determinism::run_to_run);
  ctx.log = [this](std::string_view line) { console.note(with_flags(std::string(line))); };
}

void take_device(Run& run, solvers::MemoryNeeds& needs, std::string_view on_processor) {
  const RunPlan& plan = run.plan;
  if (on_processor.empty() && plan.small) on_processor = "so small a matrix is decomposed as a whole";
  if (run.settings.common.device == "auto" && on_processor.empty())
    run.device = faster_device(plan.work, run.ctx.thread_count(), run.console);
  if (run.device.kind == Device::Kind::cuda && on_processor.empty() && plan.whole &&
      !solvers::has_cusolver(*plan.whole))
    on_processor = "cuSOLVER is not found: the matrix is decomposed as a whole";
  if (run.device.kind == Device::Kind::cuda && !on_processor.empty()) {
    run.console.note(std::string(on_processor) + ", which is done on the processor");
    run.device = {};
  }
  const auto within = [limit = run.settings.memory](std::uint64_t there_is) {
    return limit == 0 || (there_is != 0 && there_is < limit) ? there_is : limit;
  };
  run.plan.host_bytes = available_memory();
  if (run.device.kind == Device::Kind::cuda) {
    run.ctx.stream = cuda::Stream(run.device.index);
    run.ctx.stream.use_libraries(solvers::pays_libraries(run.ctx.stream.device(), plan.work));
    run.plan.device_bytes = within(cuda::free_memory(run.ctx.stream));
  } else {
    run.plan.host_bytes = within(run.plan.host_bytes);
  }
  needs.space = run.ctx.stream ? Space::device : Space::host, needs.device_bytes = run.plan.device_bytes;
  if (plan.whole)
    needs.whole = with_dense_solver(
        run, [](const auto& solver, auto task, index_t m, index_t n) { return solver.bytes(task, m, n); });
}

std::string decomposed_by(const Run& run) {
  return with_dense_solver(run,
                           [](const auto& solver, auto task, index_t m, index_t n) { return solver.by(task, m, n); });
}

void show_memory(const Run& run) {
  const auto on_device = run.plan.memory.uses_of(true);
  std::cout << (on_device.empty() || run.settings.general || run.settings.svd ? "memory" : "host memory")
            << (run.facts.ranks > 1 ? " of rank 0:\n" : ":\n");
  print_memory(std::cout, run.plan.memory.uses_of(false), run.plan.host_bytes);
  if (on_device.empty()) return;
  std::cout << "device memory:\n";
  print_memory(std::cout, on_device, run.plan.device_bytes);
}

void show_plan(const Run& run, const std::string& what, const std::string& factors) {
  const io::Description& d = run.facts.input;
  std::cout << d.where.text() << ": " << grouped(d.rows) << " x " << grouped(d.cols) << ", " << what << '\n';
  show_memory(run);
  if (run.plan.block_bytes > 0) std::cout << "the matrix does not fit: its rows pass by in blocks for every product\n";
  if (!factors.empty()) std::cout << "factors " << factors << '\n';
}

std::string add_factors(Run& run, const std::optional<solvers::FactorEstimate>& factors, const std::string& what) {
  if (!factors) return "as large as the matrix";
  std::string by = "by " + std::string(factors->by);
  if (factors->bytes == 0) return by;
  auto& shares = run.plan.memory.shares;
  shares.push_back({"factors of " + what + ", twice", static_cast<std::uint64_t>(2 * factors->bytes)});
  const int parts = run.factors_by == solvers::DirectBackend::mumps_on_ranks ? run.ranks.size() : 1;
  if (!run.settings.mass.empty() && run.ranks.first())  // its pattern is a part of that of A - sigma M
    shares.push_back({"Cholesky factor of the mass matrix", static_cast<std::uint64_t>(parts * factors->bytes)});
  return factors->flops > 0 ? by + ", " + short_number(factors->flops / 1e9) + " Gflop each" : by;
}

namespace {

/// Who factorises for ranks that work together.
void choose_factors(Run& run) {
  std::string& by = run.who.factors;
  if (!seeks_through_factors(request_of(run.settings, run.facts.input)))
    by = run.settings.mass.empty() ? "" : "rank 0";
  else if (!run.settings.bits_may_vary)
    by = "rank 0, with the bits of one process (--determinism not_guaranteed takes MUMPS on all ranks)";
  else if (!solvers::has_mumps_on_ranks(run.ctx))
    by = "rank 0, for no MUMPS for ranks of this MPI was found (Debian has one for Open MPI: libmumps-dev)";
  else
    by = run.settings.mass.empty() ? "MUMPS on all ranks" : "MUMPS on all ranks, of the mass matrix by rank 0",
    run.factors_by = solvers::DirectBackend::mumps_on_ranks;
}

/// Rows over ranks, or the machine for rank 0.
void distribute(Run& run) {
  const Ranks& ranks = run.ranks;
  if (ranks.size() == 1) return;
  run.facts.ranks = ranks.size();
  if (run.who.together) {
    ranks.work_together();
    const bool on_gpus = run.device.kind == Device::Kind::cuda;
    run.ctx.communicator =
        on_gpus ? ranks.on_devices(run.device.index, [&run](const std::string& line) { run.console.note(line); })
                : ranks.communicator();
    run.ctx.slabs = RowSlabs::of_units(run.facts.input.rows, ranks.size());
    run.ctx.determinism = run.settings.determinism.value_or(Determinism::gpu_to_gpu);
    choose_factors(run);
  } else {
    ranks.work_alone();
  }
  run.facts.ranks_work = run.who.text();
}

int solve_described(Settings settings, const Ranks& ranks) {
  const Kind& kind = settings.svd ? singular_values : settings.general ? general : hermitian;
  const Device device = resolve_device(settings.common.device, ranks.rank_on_machine());
  if (device.kind == Device::Kind::cpu) settings.read.memory_limit = settings.memory;
  Run run(std::move(settings), device, ranks);
  std::optional<EndsOnSignal> reading(std::in_place);
  run.facts.input = io::describe(run.location, run.settings.read);
  run.who = who_works(run.settings, run.facts.input, device);
  if (!ranks.works(run.who)) return exit_ok;
  distribute(run);
  kind.plan(run);
  const RunPlan& plan = run.plan;
  if (run.settings.common.dry_run) {
    kind.show(run);
    return exit_ok;
  }
  solvers::expect_memory(plan.what, plan.memory.uses_of(false), plan.host_bytes);
  if (run.ctx.stream)
    solvers::expect_memory(plan.what + " on " + device_text(run.device), plan.memory.uses_of(true), plan.device_bytes);
  run.facts.device = device_text(run.device), run.facts.threads = run.ctx.thread_count();
  if (ranks.size() > 1) run.console.note(grouped(ranks.size()) + " ranks, " + run.facts.ranks_work);
  std::future<void> opening;  // OpenBLAS, which takes some milliseconds
  const io::Description& input = run.facts.input;
  if (input.nonzeros == input.rows * input.cols)
    opening = std::async(std::launch::async, [] { (void)lapack_library(); });
  Loaded loaded = kind.read(run);
  if (opening.valid()) opening.get();
  reading.reset();
  if (run.settings.profile) run.facts.profile = begin_profile(run.ctx);
  return kind.solve(run, loaded);
}

}  // namespace

int solve_file(Settings settings, const Ranks& ranks) {
  try {
    return solve_described(std::move(settings), ranks);
  } catch (const Error& error) {
    throw Error(error.code(), with_flags(error.what()), error.where());
  }
}

}  // namespace ts::app::tssolve
