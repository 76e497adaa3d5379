#include "tallskinny/app/tssolve/run.hpp"

#include <future>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/tssolve/profile_report.hpp"
#include "tallskinny/app/tssolve/solve_file.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"

namespace ts::app::tssolve {

namespace {

const CheckpointOptions& with_checked_paths(const Settings& settings) {
  const bool preconditioned = !settings.general && !settings.svd;
  check_output_paths(
      {{"--output", settings.common.output}, {"--checkpoint", settings.checkpoint.file}, {"--report", settings.report}},
      {settings.matrix, settings.initial, settings.mass, preconditioned ? settings.preconditioner : std::string()});
  return settings.checkpoint;
}

/// What runs on the processor only is refused on a device.
void expect_on_device(const Settings& settings, const Device& device) {
  std::string what;
  if (settings.interval) what = "--interval";
  if (!settings.mass.empty()) what = "--mass";
  if (settings.eigen.which == solvers::Which::SM) what = "--which SM";
  if (settings.sigma) what = "--sigma";
  if (settings.eigen.method == solvers::Method::lobpcg) what = "--method lobpcg";
  if (settings.eigen.method == solvers::Method::davidson) what = "--method davidson";
  if (what.empty()) return;
  throw Error(Errc::invalid_argument,
              what + " runs on the processor only, not on " + device_text(device) + ": use --device cpu");
}

}  // namespace

Run::Run(Settings asked, const Device& on)
    : settings(std::move(asked)),
      device(on),
      console("tssolve", settings.common.quiet),
      location(io::parse_location(settings.matrix)),
      kept("tssolve", with_checked_paths(settings), console) {
  ctx.threads = settings.common.threads;
  ctx.log = [this](std::string_view line) { console.note(line); };
}

std::string add_factors(Run& run, const std::optional<solvers::FactorEstimate>& factors, const std::string& what) {
  if (!factors) return "as large as the matrix";
  std::string by = "by " + std::string(factors->by);
  if (factors->bytes == 0) return by;
  run.plan.memory.shares.push_back({"factors of " + what + ", twice", static_cast<std::uint64_t>(2 * factors->bytes)});
  return by + ", " + short_number(factors->flops / 1e9) + " Gflop each";
}

int solve_file(Settings settings) {
  const Kind& kind = settings.svd ? singular_values : settings.general ? general : hermitian;
  const auto& name = settings.common.device;
  const Device device = kind.on_processor ? resolve_processor(name) : resolve_device(name);
  if (device.kind == Device::Kind::cpu) settings.read.memory_limit = settings.memory;
  if (device.kind == Device::Kind::cuda) expect_on_device(settings, device);
  Run run(std::move(settings), device);
  run.facts.input = io::describe(run.location, run.settings.read);
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
  std::future<void> opening;  // OpenBLAS, which takes some milliseconds
  const io::Description& input = run.facts.input;
  if (input.nonzeros == input.rows * input.cols)
    opening = std::async(std::launch::async, [] { (void)lapack_library(); });
  Loaded loaded = kind.read(run);
  if (opening.valid()) opening.wait();
  if (run.settings.profile) run.facts.profile = begin_profile(run.ctx);
  return kind.solve(run, loaded);
}

}  // namespace ts::app::tssolve
