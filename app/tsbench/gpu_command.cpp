#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/cases.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/gpu_report.hpp"
#include "tallskinny/app/tsbench/gpu_roofs.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/gemm/backend/cuda/launch.hpp"

namespace ts::bench {

namespace {

constexpr std::int64_t sparse_bytes = std::int64_t{512} << 20;

struct Request {
  std::string operations, types, widths = "1,2,3,4,7,8,12,16,24,31,32,48,63,64";
  std::int64_t bytes = std::int64_t{2} << 30;
  index_t rows = 0;
  std::string json_file;
  GpuEffort effort;
};

bool parse_request(Request& request, app::Arguments arguments) {
  bool quick = false, no_peers = false;
  app::Options options(
      {"tsbench gpu",
       "Measures the engine on the GPU against the GPU's own roofs and against cuBLAS.",
       "[options]",
       {{"everything, kept for later", "tsbench gpu --json gpu.json"},
        {"narrow sums of squares", "tsbench gpu --op column_norms --types float64,float16 --widths 1,2,3,4"}},
       "Each result is checked against long double before it is timed. roof% is the share of what the GPU "
       "can do at "
       "best: all bytes at the read or copy rate, or (marked a) all flops at the rate of the fastest unit "
       "that keeps "
       "the type's accuracy. /vendor says how many times faster ours is than cuBLAS's best way. err is the "
       "error over "
       "its bound, bits whether a second run gave the same. The first visible device is used "
       "(CUDA_VISIBLE_DEVICES). Exit code 1 when a result was wrong."});
  options.value("op", "LIST", request.operations, "operations, comma-separated; all unless given")
      .value("types", "LIST", request.types, "element types, comma-separated; all unless given")
      .value("widths", "LIST", request.widths, "widths: 8 for both operands, 16x4 for p and q")
      .custom("bytes", "SIZE", "2GiB", "memory traffic of one run", "a size from 1MiB to 1TB such as 256MiB",
              [&](std::string_view text) { return parse_bytes(text, request.bytes); })
      .value("rows", "N", request.rows, "rows of the tall operands instead of a traffic; 0: by --bytes",
             app::at_least<std::int64_t>(0))
      .value("repetitions", "N", request.effort.repetitions, "runs of each contestant", app::between(1, 1000))
      .flag("quick", quick, "64 MiB, three widths, three runs: a smoke test, not a measurement")
      .flag("no-peers", no_peers, "leave cuBLAS out")
      .value("json", "FILE", request.json_file, "also write all figures here");
  if (!options.parse(arguments)) return false;
  if (!request.json_file.empty()) app::check_output_path("--json", request.json_file);
  if (quick) {
    if (!options.given("bytes")) request.bytes = std::int64_t{64} << 20;
    if (!options.given("widths")) request.widths = "1,8,31";
    if (!options.given("repetitions")) request.effort.repetitions = 3;
  }
  request.effort.peers = !no_peers;
  return true;
}

std::vector<Problem> cases_of(const Request& request, DType type) {
  std::vector<Problem> cases;
  for (const Operation op : parse_names<Operation>(request.operations, parse_operation, every_operation))
    for (const Shape s : parse_widths(request.widths)) {
      if (!on_gpu(op) || !exists(op, type, s)) continue;
      const bool sparse = op == Operation::spmm;
      Problem problem =
          problem_of(op, type, s.p, s.q, sparse ? std::min(request.bytes, sparse_bytes) : request.bytes);
      if (request.rows > 0 && !sparse && op != Operation::tsm2r) problem.n = request.rows;
      cases.push_back(problem);
    }
  return cases;
}

using Report = std::function<void(const GpuMeasured&)>;

template <class T>
void run_type(const Context& ctx, const Request& request, const std::vector<Problem>& cases,
              cuda::DeviceInfo& roofs, const Report& report) {
  if (cases.empty()) return;
  index_t widest = 1;
  double largest = static_cast<double>(request.bytes);
  bool sparse = false;
  for (const Problem& p : cases) {
    widest = std::max(
        widest, p.operation == Operation::tsm2r || p.operation == Operation::spmm ? p.q : std::max(p.p, p.q));
    largest = std::max(largest, cost_of(p).bytes());
    sparse = sparse || p.operation == Operation::spmm;
  }
  GpuPool<T> pool(ctx.stream, static_cast<std::int64_t>(largest), sparse ? sparse_bytes : 0, widest);
  roofs = measure_gpu_roofs(ctx, pool.source(), pool.target());
  print_gpu_roofs(std::cout, roofs);
  print_gpu_header(std::cout);
  for (const Problem& p : cases) {
    if (app::stop_requested()) return;
    report(measure(ctx, pool, p, roofs, request.effort));
  }
}

void run_type(const Context& ctx, DType type, const Request& request, const std::vector<Problem>& cases,
              cuda::DeviceInfo& roofs, const Report& report) {
#define TS_CASE(T) \
  if (type == dtype_of<T>) return run_type<T>(ctx, request, cases, roofs, report);
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
}

}  // namespace

int gpu_command(app::Arguments arguments) {
  Request request;
  if (!parse_request(request, arguments)) return app::exit_ok;
  const auto types = parse_names<DType>(request.types, parse_dtype, every_dtype);
  app::Console console("tsbench", false);
  Context ctx;
  ctx.log = [&console](std::string_view line) { console.note(line); };
  ctx.stream = cuda::Stream(0);

  std::vector<cuda::KernelPlan> plans = roof_plans(ctx.stream.device());
  for (const DType type : types)
    for (const Problem& p : cases_of(request, type)) {
      const auto some = plans_of(p, ctx.stream.device());
      plans.insert(plans.end(), some.begin(), some.end());
    }
  cuda::prepare(ctx, plans);

  std::vector<GpuMeasured> all;
  std::vector<app::JsonObject> rows;
  cuda::DeviceInfo roofs;
  for (const DType type : types)
    run_type(ctx, type, request, cases_of(request, type), roofs, [&](const GpuMeasured& m) {
      print_gpu_row(std::cout, m);
      all.push_back(m), rows.push_back(json_of(m));
    });
  print_gpu_summary(std::cout, all);

  if (!request.json_file.empty()) write_json(request.json_file, json_of_gpu_run(roofs, request.bytes), rows);
  if (app::stop_requested()) return app::stop_exit_code();
  const bool all_right = std::all_of(all.begin(), all.end(), [](const GpuMeasured& m) { return m.right; });
  return all_right ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
