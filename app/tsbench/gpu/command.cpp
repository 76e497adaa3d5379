#include <algorithm>
#include <cmath>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/gpu/tune.hpp"
#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::bench {

namespace {

/// Compiles everything, in parallel, before anything takes memory.
GpuPool prepared_pool(const Context& ctx, const std::vector<Case>& cases) {
  const cuda::DeviceInfo& device = ctx.stream.device();
  std::vector<cuda::KernelPlan> plans = app::roof_plans(device);
  const auto take = [&](const std::vector<cuda::KernelPlan>& some) {
    plans.insert(plans.end(), some.begin(), some.end());
  };
  for (const DType type : every_dtype) take(bench_plans(type));
  for (const Case& c : cases) take(kernels_of(c, device, ctx.determinism));
  cuda::prepare(ctx, plans);
  return GpuPool(ctx, cases);
}

/// Operands cut to fewer rows.
template <class T>
DeviceOperands<T> shortened(DeviceOperands<T> o, index_t rows) {
  if (o.problem.operation == Operation::spmm || rows >= o.problem.n) return o;
  o.problem.n = o.x.rows = o.out.rows = rows;
  if (o.problem.operation != Operation::tsm2r) o.y.rows = rows;
  return o;
}

template <class T>
Turns turns_of(const std::vector<DeviceOperands<T>>& sets, const std::function<void(const DeviceOperands<T>&)>& run) {
  std::vector<std::function<void()>> bodies;
  bodies.reserve(sets.size());
  for (const DeviceOperands<T>& set : sets) bodies.emplace_back([run, &set] { run(set); });
  return Turns(std::move(bodies));
}

/// A way of the vendor's, and what it took.
template <class T>
struct Runner {
  DevicePeer<T> peer;
  double seconds = 0;

  /// Times one run after `warm_up` others; infinite where the library refuses.
  void time(const Context& ctx, const DeviceOperands<T>& o, int warm_up) {
    try {
      cuda::Event start(ctx.stream), end(ctx.stream);
      for (int r = 0; r < warm_up; ++r) peer.run(o);
      start.record(ctx.stream);
      peer.run(o);
      end.record(ctx.stream);
      seconds = end.seconds_since(start);
    } catch (const Error&) {
      seconds = HUGE_VAL;
    }
  }
};

/// Runs all, and leaves the fastest `count`, and of these what takes at most `factor` times as long as the first.
template <class T>
void heat(const Context& ctx, std::vector<Runner<T>>& runners, const DeviceOperands<T>& o, int warm_up,
          std::size_t count, double factor) {
  for (Runner<T>& r : runners) r.time(ctx, o, warm_up);
  std::stable_sort(runners.begin(), runners.end(), [](const auto& x, const auto& y) { return x.seconds < y.seconds; });
  std::size_t kept = 0;
  while (kept < std::min(count, runners.size()) && runners[kept].seconds < HUGE_VAL &&
         runners[kept].seconds <= factor * runners.front().seconds)
    ++kept;
  runners.resize(kept);
}

/// A GPU as a place where cases are measured.
class GpuPlace : public GpuPool {
 public:
  static constexpr Space space = Space::device;

  /// Compiles, takes memory and measures the roofs. `ctx` is kept.
  GpuPlace(const Context& ctx, const std::vector<Case>& cases)
      : GpuPool(prepared_pool(ctx, cases)), roofs_(app::measure_gpu_roofs(ctx, source(), target())) {}

  /// The device with rates as measured.
  [[nodiscard]] const cuda::DeviceInfo& roofs() const noexcept { return roofs_; }
  /// A number that tells two results apart.
  template <class T>
  [[nodiscard]] std::uint64_t bits_of(const DeviceOperands<T>& o) const {
    using R = result_t<T>;
    const Operation op = o.problem.operation;
    if (op == Operation::inner_and_gram || op == Operation::project_out) {
      const std::uint64_t tall = o.out.empty() ? 0 : hash_of<R>(ctx_, o.out);
      return tall + hash_of<R>(ctx_, o.result) + 3 * hash_of<R>(ctx_, o.gram);
    }
    if (tall_result(op)) return hash_of<R>(ctx_, o.out);
    if (op == Operation::column_norms)
      return hash_of<real_t<T>>(ctx_, {reinterpret_cast<real_t<T>*>(o.result.data), 1, o.problem.p, o.problem.p, 1});
    return hash_of<R>(ctx_, o.result);
  }
  /// Ours one by one and in a graph, then the vendor's best.
  template <class T>
  void time(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const {
    Turns turns = turns_of<T>(sets, [&](const auto& set) { run(ctx_, set); });
    m.ours = stream_timing(ctx_, effort.repetitions, turns);
    m.graph_seconds = graph_seconds(ctx_, effort.repetitions, m.ours.median, turns);
    if (effort.peers) time_vendor<T>(sets, effort, m);
    if (m.described.problem.operation == Operation::spmm) time_candidates<T>(sets, effort, m);
  }
  void judge(Measured& m) const {
    const cuda::LeastTimes limits = cuda::least_times(m.described.problem, roofs_);
    m.roof_seconds = std::max(limits.memory_seconds, limits.arithmetic_seconds);
    m.bound = limits.arithmetic_seconds > limits.memory_seconds ? Bound::arithmetic : Bound::memory;
    const cuda::DeviceInfo& device = ctx_.stream.device();
    const cuda::GpuProblem problem = gpu_problem_of(m.described, ctx_.determinism);
    if (!cuda::ranked_candidates(problem, device).empty() || cuda::library_choice(problem, device))
      m.kernel = cuda::make_plan(problem, device, {.family = {}, .libraries = true}).kernel.family;
  }

 private:
  /// The fastest of the vendor's ways, found in heats: some are a thousand times slower than others at some
  /// widths, so that all first run on a part of the rows, and only what may win runs on all of them.
  template <class T>
  void time_vendor(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const {
    std::vector<Runner<T>> runners;
    for (DevicePeer<T>& peer : peers_of(ctx_, sets.front())) runners.push_back({std::move(peer)});
    const DeviceOperands<T>& whole = sets.front();
    heat(ctx_, runners, shortened(whole, std::max<index_t>(whole.problem.n / 32, 1 << 12)), 1, 6, 4);
    heat(ctx_, runners, whole, 0, 2, 1.1);
    PeerTiming best;
    for (const Runner<T>& r : runners) {
      Turns turns = turns_of<T>(sets, r.peer.run);
      const int repetitions = r.seconds > 20 * m.ours.median ? 1 : effort.repetitions;
      const Timing timing = stream_timing(ctx_, repetitions, turns);
      if (best.library.empty() || timing.median < best.timing.median) best = {r.peer.library, r.peer.way, timing};
    }
    if (!best.library.empty()) m.peers.push_back(std::move(best));
  }

  /// Every kernel that the planner may choose, each checked: the planner takes what a tuned table of one row names.
  template <class T>
  void time_candidates(const std::vector<DeviceOperands<T>>& sets, const Effort& effort, Measured& m) const {
    const Contest contest = contest_of(m.described, ctx_.stream.device(), SIZE_MAX);
    const auto own = ctx_.stream.device().tuned;
    const DeviceOperands<T>& first = sets.front();
    for (std::size_t k = 0; k < contest.kernels.size(); ++k) {
      choose(ctx_, contest, k);
      CandidateTiming timing{std::string(contest.kernels[k].family) + " " + text_of(contest.marks[k]),
                             contest.seconds[k]};
      cuda::fill_bytes(ctx_.stream, first.out.data, 0xff,
                       m.described.tall_bytes(first.out.rows, first.out.cols, sizeof(result_t<T>)));
      run(ctx_, first);
      const std::uint64_t bits = bits_of(first);
      timing.right = worst_error(ctx_, first) <= 1;
      Turns turns = turns_of<T>(sets, [&](const auto& set) { run(ctx_, set); });
      timing.seconds = stream_timing(ctx_, effort.repetitions, turns).median;
      timing.same_bits = bits_of(first) == bits;
      m.right = m.right && timing.right, m.same_bits = m.same_bits && timing.same_bits;
      m.candidates.push_back(std::move(timing));
    }
    ctx_.stream.choose_by(own);
  }

  cuda::DeviceInfo roofs_;
};

struct GpuRequest {
  std::string tables, compared, operations, types, widths = "1,2,3,4,7,8,12,16,24,31,32,48,63,64";
  std::string json_file;
  bool selects = false;  ///< operations and widths instead of tables
  Selection selection;
  Determinism determinism = Determinism::run_to_run;
  Effort effort{.repetitions = 7};
};

std::string what_is_measured() {
  std::string tables;
  for (const Table& t : bench::tables()) tables += format(" %-12s %s\n", t.name.data(), t.what.data());
  return "Without --op, --widths and the like, tables of cases are measured:\n" + tables +
         "Each result is checked before it is timed: sampled rows in long double, sampled entries of sums over all "
         "rows "
         "in twice float64's precision. us is the median when kernels are started one by one, graph us in a captured "
         "graph. roof% is the share of what the GPU can do at best: all bytes at the read or copy rate, or (marked a) "
         "all flops at the rate of the fastest unit that keeps the type's accuracy; behind a bar, for rows with gaps, "
         "the share of the whole 32-byte sectors that memory moves. /vendor says how many times faster ours is than "
         "the best of cuBLAS (gemm, three-multiplication gemm, rank updates, gemv, dot, trsm), of all algorithms that "
         "cuBLASLt proposes (lt), and of cuSPARSE's. err is the error over its bound, bits whether a second run gave "
         "the same. The first visible device is used (CUDA_VISIBLE_DEVICES). Exit code 1 when a result was wrong.";
}

bool parse_request(GpuRequest& request, app::Arguments arguments) {
  bool quick = false, floor = false, no_peers = false;
  Selection& selection = request.selection;
  selection.bytes = std::int64_t{3} << 30;
  app::Options options(
      {"tsbench gpu",
       "Measures the engine on the GPU against the GPU's own roofs and against NVIDIA's libraries.",
       "[options]",
       {{"468 shapes of all types and layouts, in two minutes", "tsbench gpu --floor"},
        {"everything, kept for later", "tsbench gpu --json gpu.json"},
        {"everything, but only some tables beside NVIDIA's libraries", "tsbench gpu --peers dense,tsm2r,wide,short"},
        {"two of the tables for one type", "tsbench gpu --table dense,tsm2r --types float64"},
        {"narrow sums of squares", "tsbench gpu --op column_norms --types float64,float16 --widths 1-4"}},
       what_is_measured()});
  options.value("table", "LIST", request.tables, "tables, comma-separated; all unless given")
      .value("types", "LIST", request.types, "element types, comma-separated; all unless given")
      .value("op", "LIST", request.operations, "instead of tables: operations, comma-separated")
      .value("widths", "LIST", request.widths,
             "instead of tables: widths; 8 for both operands, 1-8 for each of these, 16x4 for p and q")
      .custom("bytes", "SIZE", "3GiB", "memory traffic of one run", "a size from 1MiB to 1TB such as 256MiB",
              [&](std::string_view text) { return parse_bytes(text, selection.bytes); })
      .value("rows", "N", selection.rows, "instead of tables: rows of the tall operands; 0: by --bytes",
             app::at_least<std::int64_t>(0))
      .choice("layout", selection.layout, "instead of tables: of the tall operands",
              {{"rows", Layout::row_major}, {"columns", Layout::col_major}})
      .value("gap", "N", selection.gap, "instead of tables: elements between the lines of tall operands",
             app::between<std::int64_t>(0, 4096))
      .value("offset", "N", selection.offset, "instead of tables: elements that operands begin off alignment",
             app::between<std::int64_t>(0, 255))
      .choice("same-bits", request.determinism, "what the order of sums may depend on",
              {{"run_to_run", Determinism::run_to_run}, {"gpu_to_gpu", Determinism::gpu_to_gpu}})
      .value("repetitions", "N", request.effort.repetitions, "runs of each contestant", app::between(1, 1000))
      .flag("floor", floor, "the table of this name, 1 GiB: worst and mean against the vendor and the roof")
      .flag("quick", quick, "64 MiB, three widths, three runs: a smoke test, not a measurement")
      .value("peers", "LIST", request.compared,
             "tables that are compared with NVIDIA's libraries, which takes longest; all unless given")
      .flag("no-peers", no_peers, "leave NVIDIA's libraries out")
      .value("json", "FILE", request.json_file, "also write all figures here, every few seconds");
  if (!options.parse(arguments)) return false;
  app::check_output_paths({{"--json", request.json_file}});
  if (quick) {
    if (!options.given("bytes")) selection.bytes = std::int64_t{64} << 20;
    if (!options.given("widths")) request.widths = "1,8,31";
    if (!options.given("repetitions")) request.effort.repetitions = 3;
  }
  if (floor) {
    expects(request.tables.empty() && !quick, "--floor cannot be combined with --table or --quick");
    request.tables = "floor";
    if (!options.given("bytes")) selection.bytes = std::int64_t{1} << 30;
    if (!options.given("repetitions")) request.effort.repetitions = 5;
  }
  request.effort.peers = !no_peers;
  request.selects = quick;
  for (const char* name : {"op", "widths", "rows", "layout", "gap", "offset"})
    request.selects = request.selects || options.given(name);
  expects(!request.selects || request.tables.empty(),
          "--table cannot be combined with a selection by --op or --widths");
  for (const std::string& name : split_list(request.compared))
    (void)table_cases(name, DType::float64, selection.bytes);  // refuses what is not a table
  selection.operations = parse_operations(request.operations);
  selection.shapes = parse_widths(request.widths);
  return true;
}

std::vector<Case> cases_of(const GpuRequest& request) {
  std::vector<Case> cases;
  const auto take = [&](const std::vector<Case>& some) { cases.insert(cases.end(), some.begin(), some.end()); };
  std::vector<std::string> tables = split_list(request.tables);
  if (tables.empty())
    for (const Table& t : bench::tables()) tables.emplace_back(t.name);
  const auto types = parse_dtypes(request.types);
  if (request.selects) {
    for (const DType type : types) take(selected_cases(request.selection, type));
    return cases;
  }
  for (const std::string& table : tables)
    for (const DType type : types) take(table_cases(table, type, request.selection.bytes));
  return cases;
}

}  // namespace

int gpu_command(app::Arguments arguments) {
  GpuRequest request;
  if (!parse_request(request, arguments)) return app::exit_ok;
  const std::vector<Case> cases = cases_of(request);
  app::Console console("tsbench", false);
  Context ctx;
  ctx.log = [&console](std::string_view line) { console.note(line); };
  ctx.stream = cuda::Stream(0);
  ctx.determinism = request.determinism;
  GpuPlace place(ctx, cases);
  const cuda::DeviceInfo& roofs = place.roofs();
  ResultsFile results(request.json_file);
  results.set_header(json_of_gpu_run(roofs, request.selection.bytes));
  print_gpu_roofs(std::cout, roofs);
  print_header(std::cout, Space::device);

  std::vector<Measured> all;
  const std::vector<std::string> compared = split_list(request.compared);
  for (const Case& c : cases) {
    if (app::stop_requested()) break;
    Effort effort = request.effort;
    effort.peers &= compared.empty() || std::count(compared.begin(), compared.end(), c.table) > 0;
    all.push_back(measure_on(place, c, effort));
    print_row(std::cout, all.back());
    results.add(json_of(all.back()));
  }
  results.finish();
  std::cout << '\n';
  print_gpu_roofs(std::cout, roofs);
  print_summary(std::cout, all);
  if (app::stop_requested()) return app::stop_exit_code();
  const bool all_right = std::all_of(all.begin(), all.end(), [](const Measured& m) { return m.right; });
  return all_right ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
