#include <algorithm>
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

std::string text_of(const cuda::Defines& defines) {
  std::string text;
  for (const auto& [name, value] : defines)
    text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
  return text;
}

}  // namespace

int tune_command(app::Arguments arguments) {
  std::string operations = "tsmttsm,gram,tsmm", types, widths = "1-64", output;
  Selection selection;
  selection.bytes = std::int64_t{2} << 30;
  int most = 6, repetitions = 5;
  double worth = 1.02;
  bool each = false;
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
  options.value("op", "LIST", operations, "operations, comma-separated")
      .value("types", "LIST", types, "element types, comma-separated; all unless given")
      .value("widths", "LIST", widths, "widths: 8 for both operands, 1-8 for each of these, 16x4 for p and q")
      .custom("bytes", "SIZE", "2GiB", "memory traffic of one run", "a size from 1MiB to 1TB such as 256MiB",
              [&](std::string_view text) { return parse_bytes(text, selection.bytes); })
      .choice("layout", selection.layout, "of the tall operands",
              {{"rows", Layout::row_major}, {"columns", Layout::col_major}})
      .value("candidates", "N", most, "kernels to measure of each case, as the model ranks them",
             app::between(2, 100))
      .value("repetitions", "N", repetitions, "runs of each", app::between(1, 1000))
      .value("worth", "GAIN", worth, "the least gain that is kept", app::at_least(1.0))
      .flag("each", each, "also say what every kernel took")
      .value("output", "FILE", output, "write the choices here instead");
  if (!options.parse(arguments)) return app::exit_ok;
  app::check_output_paths({{"--output", output}});
  selection.operations = parse_names<Operation>(operations, parse_operation, every_operation);
  selection.shapes = parse_widths(widths);

  app::Console console("tsbench", false);
  Context ctx;
  ctx.log = [&console](std::string_view line) { console.note(line); };
  ctx.stream = cuda::Stream(0);
  const cuda::DeviceInfo device = ctx.stream.device();
  std::vector<Case> cases;
  std::vector<Contest> contests;
  std::vector<cuda::KernelPlan> kernels;
  for (const DType type : every_dtype) {
    const auto plans = bench_plans(type);
    kernels.insert(kernels.end(), plans.begin(), plans.end());
  }
  for (const DType type : parse_names<DType>(types, parse_dtype, every_dtype))
    for (const Case& c : selected_cases(selection, type)) {
      Contest contest = contest_of(c, device, static_cast<std::size_t>(most));
      if (contest.kernels.size() < 2) continue;
      kernels.insert(kernels.end(), contest.kernels.begin(), contest.kernels.end());
      cases.push_back(c), contests.push_back(std::move(contest));
    }
  cuda::prepare(ctx, kernels);
  GpuPool pool(ctx, cases);

  cuda::TunedTable found;
  std::cout << format("%-14s %-11s %5s %5s %10s %10s %6s  %s\n", "operation", "type", "p", "q", "model us",
                      "best us", "gain", "choice");
  for (std::size_t i = 0; i < cases.size() && !app::stop_requested(); ++i) {
    const ContestResult result = run_contest(ctx, pool, cases[i], contests[i], repetitions);
    const Problem& p = cases[i].problem;
    const bool keep = result.gain() >= worth && std::isfinite(result.seconds[result.best]);
    if (keep)
      found.set(cuda::tuned_key(contests[i].problem), {contests[i].marks[result.best], result.gain()});
    std::cout << format("%-14s %-11s %5lld %5lld %10.1f %10.1f %6.3f  %s\n", name_of(p.operation).data(),
                        name_of(p.type).data(), static_cast<long long>(p.p), static_cast<long long>(p.q),
                        result.seconds.front() * 1e6, result.seconds[result.best] * 1e6, result.gain(),
                        keep ? text_of(contests[i].marks[result.best]).c_str() : "the model's")
              << std::flush;
    for (std::size_t k = 0; each && k < result.seconds.size(); ++k)
      std::cout << format("%49.1f         %s\n", result.seconds[k] * 1e6,
                          text_of(contests[i].marks[k]).c_str());
  }
  std::cout << found.size() << " of " << cases.size()
            << " cases have a better kernel than the model's choice\n";
  if (!output.empty()) {
    write_and_tell(output,
                   "# " + device.name + ", measured " + utc_now() + " at commit " + std::string(commit()) +
                       "\n" + found.text(),
                   "kernels for this device");
  } else {
    cuda::TunedTable own = cuda::users_table(device.name);
    own.merge(found);
    cuda::keep_users_table(device.name, own);
  }
  return app::stop_requested() ? app::stop_exit_code() : app::exit_ok;
}

}  // namespace ts::bench
