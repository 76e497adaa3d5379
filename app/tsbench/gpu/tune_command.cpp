#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/gpu/tune.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::bench {

namespace {

/// The defines in which not all of the engine's kernels agree, and all of a library's.
std::set<std::string> differences(const std::vector<cuda::KernelPlan>& kernels) {
  std::set<std::string> names;
  const auto is_call = [](const cuda::KernelPlan& kernel) { return kernel.grid == 0; };
  for (const cuda::KernelPlan& kernel : kernels)
    for (const auto& define : defines_of(kernel))
      if (is_call(kernel) || std::any_of(kernels.begin(), kernels.end(), [&](const auto& other) {
            return !is_call(other) && !cuda::has_defines(other, {define});
          }))
        names.insert(define.first);
  return names;
}

}  // namespace

std::string text_of(const cuda::Defines& defines) {
  std::string text;
  for (const auto& [name, value] : defines) text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
  return text;
}

Contest contest_of(const Case& c, const cuda::DeviceInfo& device, std::size_t most) {
  Contest contest;
  contest.problem = gpu_problem_of(c, Determinism::run_to_run);
  if (cuda::tuned_key(contest.problem).empty()) return contest;
  std::vector<cuda::Candidate> all = cuda::ranked_candidates(contest.problem, device);
  all.resize(std::min(most, all.size()));
  for (const cuda::Family& library : cuda::libraries())
    for (cuda::Candidate& candidate : library.candidates(contest.problem, device)) all.push_back(std::move(candidate));
  cuda::DeviceInfo untuned = device;
  untuned.tuned = nullptr;
  if (const auto choice = cuda::library_choice(contest.problem, untuned))
    std::stable_partition(all.begin(), all.end(), [&](const auto& one) { return one.kernel == choice->kernel; });
  std::vector<cuda::KernelPlan> everything;
  everything.reserve(all.size());
  for (const cuda::Candidate& candidate : all) everything.push_back(candidate.kernel);
  const auto names = differences(everything);
  for (std::size_t k = 0; k < everything.size(); ++k) {
    cuda::Defines mark;
    for (const auto& define : defines_of(everything[k]))
      if (names.contains(define.first)) mark.push_back(define);
    const auto first = std::find_if(everything.begin(), everything.end(),
                                    [&](const auto& kernel) { return cuda::has_defines(kernel, mark); });
    if (first != everything.begin() + static_cast<std::ptrdiff_t>(k)) continue;  // cannot be told apart
    contest.kernels.push_back(everything[k]), contest.seconds.push_back(all[k].seconds);
    contest.marks.push_back(std::move(mark));
  }
  return contest;
}

void choose(const Context& ctx, const Contest& contest, std::size_t k) {
  auto table = std::make_shared<cuda::TunedTable>();
  table->set(cuda::tuned_key(contest.problem), {contest.marks[k], 1});
  ctx.stream.choose_by(std::move(table));
}

namespace {

struct ContestResult {
  std::vector<double> seconds;  ///< by candidate; infinite for a winner that was wrong
  std::size_t best = 0;
  [[nodiscard]] double gain() const { return seconds.front() / seconds[best]; }
};

/// Runs each candidate as the engine would, checked and timed.
ContestResult run_contest(const Context& ctx, const GpuPool& pool, const Case& c, const Contest& contest,
                          int repetitions) {
  ContestResult result;
  by_type(c.problem.type, [&]<class T>(std::type_identity<T>) {
    const DeviceSets<T> o = pool.operands<T>(c);
    const DeviceOperands<T>& first = o.sets.front();
    const auto own = ctx.stream.device().tuned;
    for (std::size_t k = 0; k < contest.kernels.size(); ++k) {
      choose(ctx, contest, k);
      Turns turns({[&] { bench::run(ctx, first); }});
      const double seconds = stream_timing(ctx, repetitions, turns).median;
      const bool leads = k == 0 || seconds < result.seconds[result.best];
      pool.refill(first);
      if (leads) bench::run(ctx, first);
      const bool right = !leads || worst_error(ctx, first) <= 1;
      result.seconds.push_back(right ? seconds : HUGE_VAL);
      if (leads && right) result.best = k;
    }
    ctx.stream.choose_by(own);
  });
  return result;
}

struct TuneRequest {
  std::string operations = "tsmttsm,gram,tsmm", types, widths = "1-64", output;
  Selection selection;
  int most = 6, repetitions = 5;
  double worth = 1.02;
  bool each = false;
};

bool parse_request(TuneRequest& r, app::Arguments arguments) {
  r.selection.bytes = std::int64_t{2} << 30;
  app::Options options(
      {"tsbench tune",
       "Measures the kernels among which the planner chooses, and keeps the winners for this GPU.",
       "[options]",
       {{"the widths of one program", "tsbench tune --op tsmttsm,tsmm --types complex128 --widths 8,16x8"},
        {"a table to ship", "tsbench tune --output table.txt"}},
       "A choice is kept under operation, type, widths and how the operands lie, with its gain over the model's "
       "choice; it applies to operands of 64 MB and more, and not at the level gpu_to_gpu. Without --output it goes "
       "to the user's cache folder and overrules the table that ships with the library. tsbench kernel says which of "
       "them chose."});
  options.value("op", "LIST", r.operations, "operations, comma-separated")
      .value("types", "LIST", r.types, "element types, comma-separated; all unless given")
      .value("widths", "LIST", r.widths, "widths: 8 for both operands, 1-8 for each of these, 16x4 for p and q")
      .custom("bytes", "SIZE", "2GiB", "memory traffic of one run", "a size from 1MiB to 1TB such as 256MiB",
              [&](std::string_view text) { return parse_bytes(text, r.selection.bytes); })
      .choice("layout", r.selection.layout, "of the tall operands",
              {{"rows", Layout::row_major}, {"columns", Layout::col_major}})
      .value("gap", "N", r.selection.gap, "elements between the lines of tall operands",
             app::between<std::int64_t>(0, 4096))
      .value("candidates", "N", r.most, "kernels to measure of each case, as the model ranks them",
             app::between(2, 100))
      .value("repetitions", "N", r.repetitions, "runs of each", app::between(1, 1000))
      .value("worth", "GAIN", r.worth, "the least gain that is kept", app::at_least(1.0))
      .flag("each", r.each, "also say what every kernel took")
      .value("output", "FILE", r.output, "write the choices here instead");
  if (!options.parse(arguments)) return false;
  app::check_output_paths({{"--output", r.output}});
  r.selection.operations = parse_operations(r.operations);
  r.selection.shapes = parse_widths(r.widths);
  return true;
}

/// Prints a result; adds to `found` what is worth it.
void report(const TuneRequest& r, const Contest& contest, const ContestResult& result, cuda::TunedTable& found) {
  const Problem& p = contest.problem.problem;
  const bool keep = result.gain() >= r.worth && std::isfinite(result.seconds[result.best]);
  if (keep) found.set(cuda::tuned_key(contest.problem), {contest.marks[result.best], result.gain()});
  std::cout << format("%-14s %-11s %5lld %5lld %10.1f %10.1f %6.3f  %s\n", name_of(p.operation).data(),
                      name_of(p.type).data(), static_cast<long long>(p.p), static_cast<long long>(p.q),
                      result.seconds.front() * 1e6, result.seconds[result.best] * 1e6, result.gain(),
                      keep ? text_of(contest.marks[result.best]).c_str() : "the model's")
            << std::flush;
  for (std::size_t k = 0; r.each && k < result.seconds.size(); ++k)
    std::cout << format("%49.1f         %s\n", result.seconds[k] * 1e6, text_of(contest.marks[k]).c_str());
}

}  // namespace

int tune_command(app::Arguments arguments) {
  TuneRequest request;
  if (!parse_request(request, arguments)) return app::exit_ok;
  app::Console console("tsbench", false);
  Context ctx;
  ctx.log = [&console](std::string_view line) { console.note(line); };
  ctx.stream = cuda::Stream(0);
  const cuda::DeviceInfo device = ctx.stream.device();
  std::vector<Case> cases;  // that have more than one candidate
  std::vector<Contest> contests;
  std::vector<cuda::KernelPlan> kernels;
  const auto take = [&](const std::vector<cuda::KernelPlan>& some) {
    kernels.insert(kernels.end(), some.begin(), some.end());
  };
  for (const DType type : every_dtype) take(bench_plans(type));
  for (const DType type : parse_dtypes(request.types))
    for (const Case& c : selected_cases(request.selection, type)) {
      Contest contest = contest_of(c, device, static_cast<std::size_t>(request.most));
      if (contest.kernels.size() < 2) continue;
      take(contest.kernels), take(kernels_of(c, device, ctx.determinism));
      cases.push_back(c), contests.push_back(std::move(contest));
    }
  cuda::prepare(ctx, kernels);
  GpuPool pool(ctx, cases);

  cuda::TunedTable found;
  std::cout << format("%-14s %-11s %5s %5s %10s %10s %6s  %s\n", "operation", "type", "p", "q", "model us", "best us",
                      "gain", "choice");
  for (std::size_t i = 0; i < cases.size() && !app::stop_requested(); ++i)
    report(request, contests[i], run_contest(ctx, pool, cases[i], contests[i], request.repetitions), found);
  std::cout << found.size() << " of " << cases.size() << " cases have a better kernel than the model's choice\n";
  if (!request.output.empty()) {
    write_and_report(
        request.output,
        "# " + device.name + ", measured " + utc_now() + " at commit " + std::string(commit()) + "\n" + found.text(),
        "kernels for this device");
  } else {
    cuda::TunedTable own = cuda::users_table(device.name);
    own.merge(found);
    cuda::keep_users_table(device.name, own);
  }
  return app::stop_requested() ? app::stop_exit_code() : app::exit_ok;
}

}  // namespace ts::bench
