#include "tallskinny/app/common/common_options.hpp"

#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::app {

void add_report_options(Options& options, CommonOptions& target) {
  options.flag("quiet,q", target.quiet, "write nothing to standard error but warnings and errors")
      .flag("json", target.json, "print the result as one JSON object on standard output");
}

void add_machine_options(Options& options, CommonOptions& target) {
  options.custom("device", "auto|cpu|cuda[:I,...|:all]", target.device,
                 "where to compute; auto uses the first GPU if it is expected to be faster, and reports the choice. "
                 "Several GPUs share the rows",
                 "auto, cpu, cuda, cuda:INDEX, cuda:INDEX,INDEX,... or cuda:all", [&target](std::string_view text) {
                   if (!is_device_name(text)) return false;
                   target.device = text;
                   return true;
                 });
  add_threads_option(options);
}

void add_threads_option(Options& options) {
  options
      .custom("threads", "COUNT", "0",
              "number of threads, also for reading; 0: OMP_NUM_THREADS, or as many as the affinity and quota of the "
              "process allow",
              "an integer from 0 to 4096",
              [](std::string_view text) {
                int threads = 0;
                if (!parse_value(text, threads) || threads < 0 || threads > 4096) return false;
                set_default_threads(threads);
                return true;
              })
      .known_as({"j", "t", "n-jobs", "num-threads", "nthreads"});
}

void add_seed_option(Options& options, CommonOptions& target) {
  options.value("seed", "NUMBER", target.seed, "seed of the random numbers")
      .known_as({"random-state", "rng", "random-seed"});
}

void add_output_options(Options& options, CommonOptions& target, std::string what_it_holds) {
  options.custom("output,o", "FILE.h5", target.output, std::move(what_it_holds),
                 "a file name ending in .h5, since the output is HDF5", [&target](std::string_view text) {
                   return other_format(text).empty() && parse_value(text, target.output);
                 });
  add_dry_run_option(options, target);
}

void add_dry_run_option(Options& options, CommonOptions& target) {
  options.flag("dry-run", target.dry_run, "show the plan and the memory it needs, and stop");
}

}  // namespace ts::app
