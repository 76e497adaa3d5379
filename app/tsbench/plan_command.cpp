#include <iostream>
#include <sstream>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"

namespace ts::bench {

namespace {

app::JsonObject plan_json(const Plan& plan, const ProcessorInfo& device) {
  std::ostringstream line;
  line << plan;
  const Problem& p = plan.problem;
  auto json = app::JsonObject::of_schema("tsbench-plan");
  json.add("operation", name_of(p.operation)).add("type", name_of(p.type)).add("n", p.n).add("p", p.p).add("q", p.q);
  json.add("device", device.name).add("threads", plan.threads).add("kernel", plan.kernel);
  json.add("simd", name_of(plan.simd)).add("lanes", plan.lanes).add("fold", plan.fold);
  json.add("tile_rows", plan.tile_rows).add("tile_cols", plan.tile_cols);
  json.add("chunk_rows", plan.chunk_rows).add("chunks", plan.chunks).add("streaming_stores", plan.streaming_stores);
  json.add("tile_utilisation", plan.tile_utilisation).add("wave_utilisation", plan.wave_utilisation);
  json.add("read_bytes", plan.cost.read_bytes).add("written_bytes", plan.cost.written_bytes);
  json.add("flops", plan.cost.flops).add("memory_seconds", plan.memory_seconds);
  json.add("arithmetic_seconds", plan.arithmetic_seconds).add("launch_seconds", plan.launch_seconds);
  json.add("predicted_seconds", plan.seconds).add("bound", name_of(plan.bound)).add("summary", line.str());
  return json;
}

}  // namespace

int plan_command(app::Arguments arguments) {
  std::string operation, type;
  Problem problem;
  PlanOverrides wish;
  bool json = false, beta = false, strided = false;
  index_t nonzeros_per_row = 7;

  app::Options options(
      {"tsbench plan",
       "What an operation would do on this processor, and why.",
       "OP TYPE n m k [options]",
       {{"A^H B with A 10 million x 8 and B 10 million x 4", "tsbench plan tsmttsm complex128 1e7 8 4"},
        {"X S with X a million x 3 on one thread", "tsbench plan tsmm float16 1e6 3 3 --threads 1"}},
       "OP is one of tsmttsm, gram, tsmm, tsmm_in_place, tsm2r, spmm, inner_and_gram, project_out, "
       "column_norms and trsm; m and k are the widths of its two operands (for tsm2r and spmm: the "
       "columns of the large matrix and of the block). Bandwidths are assumed, not measured; "
       "tsbench engine measures them."});
  options.positional("OP", operation, "the operation")
      .positional("TYPE", type, dtype_names(" or "))
      .positional("n", problem.n, "rows")
      .positional("m", problem.p, "columns of the first operand")
      .positional("k", problem.q, "columns of the second operand", false)
      .flag("json", json, "print one JSON object")
      .flag("beta", beta, "the output is added to, not replaced")
      .flag("strided", strided, "an operand is column-major or has gaps between its rows")
      .value("nonzeros-per-row", "N", nonzeros_per_row, "of the sparse matrix of spmm", app::at_least<std::int64_t>(0))
      .group("Overrides (an error where they cannot be met)")
      .value("threads", "N", wish.threads, "0: as many as there are", app::at_least(0))
      .choice("simd", wish.simd, "vector instructions", simd_words());
  if (!options.parse(arguments)) return app::exit_ok;

  problem.operation = parse_operation(operation);
  problem.type = parse_dtype(type);
  problem.accumulate = beta;
  problem.contiguous = !strided;
  problem.nonzeros = nonzeros_per_row * problem.n;

  const Plan plan = make_plan(problem, this_cpu(), wish);
  std::cout << (json ? plan_json(plan, this_cpu()).text() + "\n" : explain(plan, this_cpu()));
  return app::exit_ok;
}

}  // namespace ts::bench
