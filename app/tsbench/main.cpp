#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/tsbench/commands.hpp"

int main(int argc, char** argv) {
  using namespace ts;
  return app::run_program("tsbench", argc, argv, [](app::Arguments arguments) {
    const app::About about{
        "tsbench",
        "Measure the engine on this machine, or see what it plans to do.",
        "COMMAND [options]",
        {{"what would run for A^H B with A and B 10 million x 8, and why", "tsbench plan tsmttsm float64 1e7 8 8"},
         {"every operation against this machine's roofs, Eigen and OpenBLAS", "tsbench engine --json engine.json"}},
        ""};
    return app::run_command(about,
                            {{"plan", "what an operation would do, and why", bench::plan_command},
                             {"engine", "measure operations, types and widths", bench::engine_command},
                             {"gpu", "measure them on the GPU", bench::gpu_command},
                             {"probe", "measure what plans need to know of the GPU", bench::probe_command},
                             {"tune", "choose among GPU kernels by measuring them", bench::tune_command},
                             {"pack", "the GPU kernels of default runs, compiled into a file", bench::pack_command},
                             {"kernel", "the GPU kernel of an operation and what it uses", bench::kernel_command}},
                            arguments);
  });
}
