#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/gpu/place.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/app/tsbench/tables.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::bench {

namespace {

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
  for (const TableName& t : table_names()) tables += format(" %-12s %s\n", t.name.data(), t.what.data());
  return "Without --op, --widths and the like, tables of cases are measured:\n" + tables +
         "Each result is checked before it is timed: sampled rows in long double, sampled entries of "
         "sums over all rows in twice float64's precision. us is the median when kernels are started "
         "one by one, graph us in a captured graph. roof% is the share of what the GPU can do at best: "
         "all bytes at the read or copy rate, or (marked a) all flops at the rate of the fastest unit "
         "that keeps the type's accuracy; behind a bar, for rows with gaps, the share of the whole "
         "32-byte sectors that memory moves. /vendor says how many times faster ours is than the best "
         "of cuBLAS (gemm, three-multiplication gemm, rank updates, gemv, dot, trsm), of all algorithms "
         "that cuBLASLt proposes (lt), and of cuSPARSE's. err is the error over its bound, bits whether a second run "
         "gave the same. "
         "The first visible device is used (CUDA_VISIBLE_DEVICES). Exit code 1 when a result was wrong.";
}

bool parse_request(GpuRequest& request, app::Arguments arguments) {
  bool quick = false, no_peers = false;
  Selection& selection = request.selection;
  selection.bytes = std::int64_t{3} << 30;
  app::Options options(
      {"tsbench gpu",
       "Measures the engine on the GPU against the GPU's own roofs and against NVIDIA's libraries.",
       "[options]",
       {{"everything, kept for later", "tsbench gpu --json gpu.json"},
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
  request.effort.peers = !no_peers;
  request.selects = quick;
  for (const char* name : {"op", "widths", "rows", "layout", "gap", "offset"})
    request.selects = request.selects || options.given(name);
  expects(!request.selects || request.tables.empty(),
          "--table cannot be combined with a selection by --op or --widths");
  for (const std::string& name : split_list(request.compared))
    (void)table_cases(name, DType::float64, selection.bytes);  // refuses what is not a table
  selection.operations = parse_names<Operation>(request.operations, parse_operation, every_operation);
  selection.shapes = parse_widths(request.widths);
  return true;
}

std::vector<Case> cases_of(const GpuRequest& request) {
  std::vector<Case> cases;
  const auto take = [&](const std::vector<Case>& some) { cases.insert(cases.end(), some.begin(), some.end()); };
  std::vector<std::string> tables = split_list(request.tables);
  if (tables.empty())
    for (const TableName& t : table_names()) tables.emplace_back(t.name);
  const auto types = parse_names<DType>(request.types, parse_dtype, every_dtype);
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

  std::vector<Cell> cells;
  const std::vector<std::string> compared = split_list(request.compared);
  for (const Case& c : cases) {
    if (app::stop_requested()) break;
    Effort effort = request.effort;
    effort.peers &= compared.empty() || std::count(compared.begin(), compared.end(), c.table) > 0;
    const Measured m = place.measure(c, effort);
    print_row(std::cout, m);
    results.add(json_of(m));
    cells.push_back(cell_of(m));
  }
  results.finish();
  std::cout << '\n';
  print_gpu_roofs(std::cout, roofs);
  print_summary(std::cout, cells);
  if (app::stop_requested()) return app::stop_exit_code();
  const bool all_right = std::all_of(cells.begin(), cells.end(), [](const Cell& c) { return c.seconds > 0; });
  return all_right ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
