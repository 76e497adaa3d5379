#include <iostream>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/rank_prediction.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/machine_measure.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/gemm/plan/processor_info.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::bench {

int machine_command(app::Arguments arguments, const app::Ranks& ranks) {
  std::string output;
  Context ctx;
  index_t side = 64, points = 1 << 18;
  app::Options options({"tsbench machine",
                        "Measures what a machine file says: what --machine of --dry-run --ranks reads.",
                        "-o FILE.json [options]",
                        {{"this machine with two ranks", "mpirun -n 2 tsbench machine -o here.json"}},
                        "Each rank runs block Lanczos on a grid and k-means by itself, all at once; rates are those "
                        "with which the model "
                        "takes as long. Messages are those of MPI between ranks of this machine: measured, and as the "
                        "model has them. The "
                        "network between nodes is taken to be as fast, files to be read at 1 GB/s: change these where "
                        "you know better."});
  options.value("output,o", "FILE", output, "the machine file to write")
      .value("side", "N", side, "points of the grid each way", app::between<index_t>(16, 512))
      .value("points", "N", points, "of k-means", app::between<index_t>(10'000, 100'000'000))
      .value("threads", "N", ctx.threads, "of a rank; 0: as many as it may have", app::at_least(0));
  if (!options.parse(arguments)) return app::exit_ok;
  expects(!output.empty(), "tsbench machine needs --output FILE.json");
  if (ranks.first()) app::check_output_paths({{"--output", output}});
  expects(ranks.on_machine() == ranks.size(),
          "tsbench machine measures the ranks of one machine, and there are others");
  ctx.communicator = ranks.communicator();
  MeasuredMachine m = measure_machine(ctx, side, points);
  m.model.name = format("%d x %s", ranks.size(), this_cpu().name.c_str());

  std::cout << m.model.name << ", " << ctx.thread_count() << " threads a rank, " << utc_now() << ", commit " << commit()
            << format("\na step of block Lanczos %.3f ms: %.2f GB/s; a pass of k-means %.3f ms: %.2f Gflop/s\n",
                      m.step_seconds * 1e3, m.model.memory_bytes_per_second * 1e-9, m.pass_seconds * 1e3,
                      m.model.narrow_flops_per_second * 1e-9);
  if (!m.messages.empty()) std::cout << "call            bytes         us  predicted us  measured / predicted\n";
  for (const MessageTime& t : m.messages)
    std::cout << format("%-10s %10lld %10.2f %13.2f %21.2f\n", t.call, static_cast<long long>(t.bytes), t.seconds * 1e6,
                        t.predicted * 1e6, t.seconds / t.predicted);
  if (ranks.first())
    write_and_tell(output,
                   app::machine_text(m.model, "measured by tsbench machine, " + utc_now() +
                                                  "; assumed: the network between nodes, files" +
                                                  (ranks.size() == 1 ? ", messages" : "")),
                   "a machine file");
  return app::exit_ok;
}

}  // namespace ts::bench
