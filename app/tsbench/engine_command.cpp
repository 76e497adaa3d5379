#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/host_place.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/app/tsbench/words.hpp"

namespace ts::bench {

namespace {

struct EngineRequest {
  std::string operations, types, widths = "1,2,3,4,8,16,32,64";
  std::int64_t bytes = std::int64_t{256} << 20;
  std::string json_file;
  bool quick = false, no_peers = false;
  Context ctx;
  Effort effort;
};

bool parse_request(EngineRequest& request, app::Arguments arguments) {
  app::Options options(
      {"tsbench engine",
       "Measures every operation, type and width against the machine's own roofs, Eigen and OpenBLAS.",
       "[options]",
       {{"everything, kept for later", "tsbench engine --json engine.json"},
        {"a look at two operations", "tsbench engine --op tsmttsm,tsmm --types float64 --widths 4,8,16x4"}},
       "Each result is checked against long double before it is timed. roof% is the share of what the "
       "machine can do at best: all bytes at the read or copy rate, or all flops at the multiply-add "
       "rate, measured in turns with the operation. /Eigen and /OpenBLAS say how many times faster "
       "ours is. Exit code 1 when a result was wrong."});
  options.value("op", "LIST", request.operations, "operations, comma-separated; all unless given")
      .value("types", "LIST", request.types, "element types, comma-separated; all unless given")
      .value("widths", "LIST", request.widths, "widths: 8 for both operands, 16x4 for p and q")
      .custom("bytes", "SIZE", "256MiB", "memory traffic of one run", "a size from 1MiB to 1TB such as 256MiB",
              [&](std::string_view text) { return parse_bytes(text, request.bytes); })
      .value("repetitions", "N", request.effort.repetitions, "turns of each contestant", app::between(1, 1000))
      .flag("quick", request.quick, "32 MiB, three widths, two turns: a smoke test, not a measurement")
      .flag("no-peers", request.no_peers, "leave Eigen and OpenBLAS out")
      .value("threads", "N", request.ctx.threads, "0: as many as there are", app::at_least(0))
      .choice("simd", request.ctx.simd, "vector instructions", simd_words())
      .choice("implementation", request.ctx.implementation, "which of our two bodies runs",
              {{"fast", Implementation::fast}, {"reference", Implementation::reference}})
      .value("json", "FILE", request.json_file, "also write all figures here");
  if (!options.parse(arguments)) return false;
  app::check_output_paths({{"--json", request.json_file}});
  if (request.quick) {
    if (!options.given("bytes")) request.bytes = std::int64_t{32} << 20;
    if (!options.given("widths")) request.widths = "3,8,32";
    if (!options.given("repetitions")) request.effort.repetitions = 2;
  }
  request.effort.peers = !request.no_peers;
  return true;
}

std::vector<Case> cases_of(const EngineRequest& request, const std::vector<Shape>& shapes) {
  std::vector<Case> cases;
  const auto operations = parse_names<Operation>(request.operations, parse_operation, every_operation);
  for (const DType type : parse_names<DType>(request.types, parse_dtype, every_dtype))
    for (const Operation op : operations)
      for (const Shape s : shapes)
        if (exists(op, type, s)) cases.push_back({"", problem_of(op, type, s.p, s.q, request.bytes)});
  return cases;
}

}  // namespace

int engine_command(app::Arguments arguments) {
  EngineRequest request;
  if (!parse_request(request, arguments)) return app::exit_ok;
  const auto shapes = parse_widths(request.widths);
  const std::vector<Case> cases = cases_of(request, shapes);
  solvers::expect_memory("the benchmark", {{"operands", static_cast<std::uint64_t>(5 * request.bytes)}},
                         app::available_memory());

  bool all_right = true;
  Roofs best;
  ResultsFile results(request.json_file);
  index_t widest = 1;
  for (const Shape s : shapes) widest = std::max({widest, s.p, s.q});
  HostPlace place(request.ctx, request.bytes, widest);
  print_header(std::cout, Space::host);
  for (const Case& c : cases) {
    if (app::stop_requested()) break;
    const Measured m = place.measure(c, request.effort);
    all_right = all_right && m.right;
    for (const auto rate :
         {&Roofs::read_bytes_per_second, &Roofs::copy_bytes_per_second, &Roofs::float64_flops, &Roofs::float32_flops})
      best.*rate = std::max(best.*rate, m.roofs.*rate);
    print_row(std::cout, m);
    results.set_header(json_of_run(request.ctx, request.effort, request.bytes, best));
    results.add(json_of(m));
  }
  std::cout << "best roofs seen: read " << app::short_number(best.read_bytes_per_second * 1e-9, 3) << " GB/s, copy "
            << app::short_number(best.copy_bytes_per_second * 1e-9, 3) << " GB/s, float64 "
            << app::short_number(best.float64_flops * 1e-9, 3) << " Gflop/s, float32 "
            << app::short_number(best.float32_flops * 1e-9, 3) << " Gflop/s\n";

  results.finish();
  if (app::stop_requested()) return app::stop_exit_code();
  return all_right ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
