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
  options.custom(
      "device", "auto|cpu|cuda[:I,...|:all]", target.device,
      "where to compute; auto takes the first GPU where it is expected to be faster, and says so. Of several "
      "GPUs each has some of the rows",
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
              "processor threads to use, for reading, too; 0: what OMP_NUM_THREADS says, or as many as the "
              "process may keep busy by its affinity and quota",
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
  options.value("seed", "NUMBER", target.seed, "what the random numbers start from")
      .known_as({"random-state", "rng", "random-seed"});
}

void add_output_options(Options& options, CommonOptions& target, std::string what_it_holds) {
  options.custom("output,o", "FILE.h5", target.output, std::move(what_it_holds),
                 "a name that ends with .h5, since the output is HDF5", [&target](std::string_view text) {
                   return other_format(text).empty() && parse_value(text, target.output);
                 });
  add_dry_run_option(options, target);
}

void add_dry_run_option(Options& options, CommonOptions& target) {
  options.flag("dry-run", target.dry_run, "show the plan and the memory it needs, and stop");
}

}  // namespace ts::app
