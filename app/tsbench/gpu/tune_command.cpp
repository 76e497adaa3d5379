#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/gpu/tune.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/app/tsbench/tables.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::bench {

namespace {

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
        {"a table to ship", "tsbench tune --output h100.txt"}},
       "A choice is kept under operation, type, widths and how the operands lie, with its gain over the "
       "model's "
       "choice; it applies to operands of 64 MB and more, and not at the level gpu_to_gpu. Without --output "
       "it goes to "
       "the user's cache folder and overrules the table that ships with the library. tsbench kernel says "
       "which "
       "of them chose."});
  options.value("op", "LIST", r.operations, "operations, comma-separated")
      .value("types", "LIST", r.types, "element types, comma-separated; all unless given")
      .value("widths", "LIST", r.widths, "widths: 8 for both operands, 1-8 for each of these, 16x4 for p and q")
      .custom("bytes", "SIZE", "2GiB", "memory traffic of one run", "a size from 1MiB to 1TB such as 256MiB",
              [&](std::string_view text) { return parse_bytes(text, r.selection.bytes); })
      .choice("layout", r.selection.layout, "of the tall operands",
              {{"rows", Layout::row_major}, {"columns", Layout::col_major}})
      .value("candidates", "N", r.most, "kernels to measure of each case, as the model ranks them",
             app::between(2, 100))
      .value("repetitions", "N", r.repetitions, "runs of each", app::between(1, 1000))
      .value("worth", "GAIN", r.worth, "the least gain that is kept", app::at_least(1.0))
      .flag("each", r.each, "also say what every kernel took")
      .value("output", "FILE", r.output, "write the choices here instead");
  if (!options.parse(arguments)) return false;
  app::check_output_paths({{"--output", r.output}});
  r.selection.operations = parse_names<Operation>(r.operations, parse_operation, every_operation);
  r.selection.shapes = parse_widths(r.widths);
  return true;
}

/// The cases that have more than one candidate, with them.
struct Contests {
  std::vector<Case> cases;
  std::vector<Contest> contests;
  std::vector<cuda::KernelPlan> kernels;  ///< of all, and of the benchmark itself

  Contests(const TuneRequest& r, const cuda::DeviceInfo& device) {
    const auto take = [this](const std::vector<cuda::KernelPlan>& some) {
      kernels.insert(kernels.end(), some.begin(), some.end());
    };
    for (const DType type : every_dtype) take(bench_plans(type));
    for (const DType type : parse_names<DType>(r.types, parse_dtype, every_dtype))
      for (const Case& c : selected_cases(r.selection, type)) {
        Contest contest = contest_of(c, device, static_cast<std::size_t>(r.most));
        if (contest.kernels.size() < 2) continue;
        take(contest.kernels);
        cases.push_back(c), contests.push_back(std::move(contest));
      }
  }
};

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
  const Contests all(request, device);
  cuda::prepare(ctx, all.kernels);
  GpuPool pool(ctx, all.cases);

  cuda::TunedTable found;
  std::cout << format("%-14s %-11s %5s %5s %10s %10s %6s  %s\n", "operation", "type", "p", "q", "model us", "best us",
                      "gain", "choice");
  for (std::size_t i = 0; i < all.cases.size() && !app::stop_requested(); ++i)
    report(request, all.contests[i], run_contest(ctx, pool, all.cases[i], all.contests[i], request.repetitions), found);
  std::cout << found.size() << " of " << all.cases.size() << " cases have a better kernel than the model's choice\n";
  if (!request.output.empty()) {
    write_and_tell(
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
