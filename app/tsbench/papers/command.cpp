#include <algorithm>
#include <cmath>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/gpu/place.hpp"
#include "tallskinny/app/tsbench/host_place.hpp"
#include "tallskinny/app/tsbench/papers/figures.hpp"
#include "tallskinny/app/tsbench/papers/occupancy.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/app/tsbench/words.hpp"
#include "tallskinny/gemm/plan/text.hpp"

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
  std::cout << format("  %-11s roof %s; times %s: %s", name_of(type).data(), o.share.text(" %", 100).c_str(), peers,
                      o.ratio.text("").c_str());
  if (o.energy.count > 0) std::cout << "; vendor's energy over ours: " << o.energy.text("");
  if (o.wrong > 0) std::cout << "; " << o.wrong << " WRONG";
  std::cout << '\n';
}

struct PapersRequest {
  std::vector<const Figure*> figures;
  bool memory = false;  ///< B0
  std::string json_file;
  bool verbose = false;
  Effort effort{.repetitions = 7};
};

/// Prints a figure's heading, `measure_one` each of its cases, and what they came to by type.
template <class MeasureOne>
bool run_figure(const Figure& figure, const std::vector<Case>& cases, const char* peers, MeasureOne&& measure_one) {
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

/// Prints and stores one result, and counts it among those of its figure.
void take(const PapersRequest& request, const Measured& m, ResultsFile& results, Outcome& o) {
  if (request.verbose) print_row(std::cout, m);
  results.add(json_of(m));
  if (!m.right) return static_cast<void>(++o.wrong);
  o.share.add(m.roof_share());
  double least = HUGE_VAL;
  for (const PeerTiming& peer : m.peers) {
    least = std::min(least, m.times(peer.library));
    if (m.joules > 0) o.energy.add(peer.joules / m.joules);
  }
  if (least < HUGE_VAL) o.ratio.add(least);
}

bool run_on_device(const PapersRequest& request, const Context& ctx) {
  std::vector<std::vector<Case>> cases;
  std::vector<Case> every;
  for (const Figure* figure : request.figures) {
    cases.push_back(figure->cases(true));
    every.insert(every.end(), cases.back().begin(), cases.back().end());
  }
  GpuPlace place(ctx, every, occupancy_plans(ctx.stream.device()));
  ResultsFile results(request.json_file);
  results.set_header(json_of_gpu_run(place.roofs(), 0));
  print_gpu_roofs(std::cout, place.roofs());
  if (request.memory) {
    std::cout << "\nB0  Ernst et al. 2020, table 1: what memory gives to few threads\n";
    print_occupancy(std::cout, ctx, place.pool().source(), place.pool().target());
  }
  bool right = true;
  for (std::size_t f = 0; f < cases.size(); ++f)
    right =
        run_figure(*request.figures[f], cases[f], "the vendor's best",
                   [&](const Case& c, Outcome& o) { take(request, place.measure(c, request.effort), results, o); }) &&
        right;
  results.finish();
  return right;
}

bool run_on_cpu(const PapersRequest& request) {
  std::cout << "no GPU can be used: smaller cases on the processor, against Eigen and OpenBLAS\n";
  ResultsFile results(request.json_file);
  bool right = true;
  for (const Figure* figure : request.figures)
    right = run_figure(*figure, figure->cases(false), "the best of Eigen and OpenBLAS",
                       [&](const Case& c, Outcome& o) {
                         const Problem& p = c.problem;
                         const index_t width = std::max(p.operation == Operation::tsm2r ? 1 : p.p, p.q);
                         HostPlace place({}, static_cast<std::int64_t>(cost_of(p).bytes()), width);
                         const Measured m = place.measure(c, {.repetitions = 3});
                         results.set_header(json_of_run({}, Effort{}, 0, m.roofs));
                         take(request, m, results, o);
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
      .value("energy", "SECONDS", request.effort.energy_seconds, "also read the energy of loops of this length (GPU)",
             app::between(0.0, 60.0))
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
