#include <algorithm>
#include <cmath>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/cases.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/gpu/report.hpp"
#include "tallskinny/app/tsbench/gpu/run.hpp"
#include "tallskinny/app/tsbench/papers/figures.hpp"
#include "tallskinny/app/tsbench/papers/occupancy.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::bench {

namespace {

struct Spread {
  double low = HUGE_VAL, high = 0, log_sum = 0;
  int count = 0;
  void add(double x) {
    if (!(x > 0)) return;
    low = std::min(low, x), high = std::max(high, x), log_sum += std::log(x), ++count;
  }
  [[nodiscard]] std::string text(const char* unit, double scale = 1) const {
    return count == 0 ? "-"
                      : format("%.2f to %.2f%s, mean %.2f", scale * low, scale * high, unit,
                               scale * std::exp(log_sum / count));
  }
};

/// What the cases of one figure came to, for one type.
struct Outcome {
  Spread share, ratio, energy;
  int wrong = 0;
};

void print_outcome(DType type, const Outcome& o, const char* peers) {
  std::cout << format("  %-11s roof %s; times %s: %s", name_of(type).data(), o.share.text(" %", 100).c_str(),
                      peers, o.ratio.text("").c_str());
  if (o.energy.count > 0) std::cout << "; vendor's energy over ours: " << o.energy.text("");
  if (o.wrong > 0) std::cout << "; " << o.wrong << " WRONG";
  std::cout << '\n';
}

struct PapersRequest {
  std::vector<const Figure*> figures;
  bool memory = false;  ///< B0
  std::string json_file;
  bool verbose = false;
  GpuEffort effort;
};

/// Prints a figure's heading, `measure_one` each of its cases, and what they came to by type.
template <class MeasureOne>
bool run_figure(const Figure& figure, const std::vector<Case>& cases, const char* peers,
                MeasureOne&& measure_one) {
  std::cout << '\n' << figure.id << "  " << figure.source << "\n  paper: " << figure.says << '\n';
  bool right = true;
  for (const DType type : every_dtype) {
    Outcome outcome;
    bool any = false;
    for (const Case& c : cases) {
      if (c.problem.type != type || app::stop_requested()) continue;
      any = true;
      measure_one(c, outcome);
    }
    if (any) print_outcome(type, outcome, peers);
    right = right && outcome.wrong == 0;
  }
  return right;
}

bool run_on_device(const PapersRequest& request, const Context& ctx) {
  const cuda::DeviceInfo& device = ctx.stream.device();
  std::vector<cuda::KernelPlan> plans = app::roof_plans(device);
  const auto take = [&](const std::vector<cuda::KernelPlan>& some) {
    plans.insert(plans.end(), some.begin(), some.end());
  };
  take(occupancy_plans(device));
  std::vector<std::vector<Case>> cases;
  std::vector<Case> every;
  for (const Figure* figure : request.figures) {
    cases.push_back(figure->cases(true));
    every.insert(every.end(), cases.back().begin(), cases.back().end());
  }
  for (const DType type : every_dtype) take(bench_plans(type));
  for (const Case& c : every) take(kernels_of(c, device, ctx.determinism));
  cuda::prepare(ctx, plans);
  GpuPool pool(ctx, every);
  const cuda::DeviceInfo roofs = app::measure_gpu_roofs(ctx, pool.source(), pool.target());
  ResultsFile results(request.json_file);
  results.set_header(json_of_gpu_run(roofs, 0));
  print_gpu_roofs(std::cout, roofs);
  if (request.memory) {
    std::cout << "\nB0  Ernst et al. 2020, table 1: what memory gives to few threads\n";
    print_occupancy(std::cout, ctx, pool.source(), pool.target());
  }
  bool right = true;
  for (std::size_t f = 0; f < cases.size(); ++f)
    right = run_figure(*request.figures[f], cases[f], "the vendor's best",
                       [&](const Case& c, Outcome& o) {
                         const GpuMeasured m = measure(ctx, pool, c, roofs, request.effort);
                         if (request.verbose) print_gpu_row(std::cout, m);
                         results.add(json_of(m));
                         if (!m.right) return static_cast<void>(++o.wrong);
                         o.share.add(m.roof_share()), o.ratio.add(m.vendor_ratio());
                         if (m.joules > 0) o.energy.add(m.vendor_joules / m.joules);
                       }) &&
            right;
  results.finish();
  return right;
}

template <class T>
Measured measure_on_cpu(const Problem& problem) {
  Effort effort;
  effort.repetitions = 3;
  const index_t width = std::max(problem.operation == Operation::tsm2r ? 1 : problem.p, problem.q);
  Pool<T> pool(static_cast<std::int64_t>(cost_of(problem).bytes()), width);
  return measure(pool, problem, effort);
}

bool run_on_cpu(const PapersRequest& request) {
  std::cout << "no GPU can be used: smaller cases on the processor, against Eigen and OpenBLAS\n";
  ResultsFile results(request.json_file);
  bool right = true;
  Roofs best;
  for (const Figure* figure : request.figures)
    right = run_figure(*figure, figure->cases(false), "the best of Eigen and OpenBLAS",
                       [&](const Case& c, Outcome& o) {
                         Measured m;
#define TS_CASE(T) \
  if (c.problem.type == dtype_of<T>) m = measure_on_cpu<T>(c.problem);
                         TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
                         if (request.verbose) print_row(std::cout, m);
                         best = m.roofs;
                         results.set_header(json_of_run(Effort{}, 0, best));
                         results.add(json_of(m));
                         if (m.refused) return static_cast<void>(++o.wrong);
                         o.share.add(m.roof_share());
                         double least = HUGE_VAL;
                         for (const double peer : {m.eigen.best, m.openblas.best})
                           if (peer > 0) least = std::min(least, peer);
                         if (least < HUGE_VAL) o.ratio.add(least / m.ours.best);
                       }) &&
            right;
  results.finish();
  return right;
}

}  // namespace

int papers_command(app::Arguments arguments) {
  PapersRequest request;
  std::string only;
  bool cpu = false;
  std::string listed = " B0 Ernst et al. 2020, table 1: bandwidth against occupancy (GPU only)\n";
  for (const Figure& figure : figures()) listed += format(" %s %s\n", figure.id.data(), figure.source.data());
  app::Options options(
      {"tsbench papers",
       "Measures what the papers behind the engine show, and prints it beside their figures.",
       "[options]",
       {{"all of it", "tsbench papers"}, {"one figure, case by case", "tsbench papers --only B3 --verbose"}},
       listed + "The figures are of other GPUs and other releases of cuBLAS: shares and ratios "
                "compare, times do not. Without a GPU smaller cases run on the processor."});
  options.value("only", "LIST", only, "figures, comma-separated; all unless given")
      .flag("cpu", cpu, "on the processor even if there is a GPU")
      .flag("verbose,v", request.verbose, "a line for each case")
      .value("energy", "SECONDS", request.effort.energy_seconds,
             "also read the energy of loops of this length (GPU)", app::between(0.0, 60.0))
      .value("json", "FILE", request.json_file, "also write all figures here");
  if (!options.parse(arguments)) return app::exit_ok;
  app::check_output_paths({{"--json", request.json_file}});
  const std::vector<std::string> wanted = split_list(only);
  const auto asked = [&](std::string_view id) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), id) != wanted.end();
  };
  for (const Figure& figure : figures())
    if (asked(figure.id)) request.figures.push_back(&figure);
  request.memory = asked("B0");
  expects(request.memory || !request.figures.empty(), "--only: there are the figures B0 to B8");

  bool right = true;
  if (cpu || cuda::list_devices().devices.empty()) {
    right = run_on_cpu(request);
  } else {
    app::Console console("tsbench", false);
    Context ctx;
    ctx.log = [&console](std::string_view line) { console.note(line); };
    ctx.stream = cuda::Stream(0);
    right = run_on_device(request, ctx);
  }
  if (app::stop_requested()) return app::stop_exit_code();
  return right ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
