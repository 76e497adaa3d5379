#include "tallskinny/app/common/common_options.hpp"

#include "tallskinny/app/common/device.hpp"
#include "tallskinny/gemm/runtime/processors.hpp"

namespace ts::app {

void add_report_options(Options& options, CommonOptions& target) {
  options.flag("quiet,q", target.quiet, "write nothing to standard error but warnings and errors")
      .flag("json", target.json, "print the result as one JSON object on standard output");
}

void add_machine_options(Options& options, CommonOptions& target) {
  options.custom("device", "auto|cpu|cuda[:I]", target.device,
                 "where to compute; auto takes the first GPU where it is expected to be faster, and says so",
                 "auto, cpu, cuda or cuda:INDEX", [&target](std::string_view text) {
                   if (!is_device_name(text)) return false;
                   target.device = text;
                   return true;
                 });
  add_threads_option(options, target.threads);
}

void add_threads_option(Options& options, int& target) {
  options.custom("threads", "COUNT", "0",
                 "processor threads to use, for reading, too; 0: what OMP_NUM_THREADS says, or as many as the "
                 "process may keep busy by its affinity and quota",
                 "an integer from 0 to 4096", [&target](std::string_view text) {
                   if (!parse_value(text, target) || target < 0 || target > 4096) return false;
                   set_default_threads(target);
                   return true;
                 });
}

void add_seed_option(Options& options, CommonOptions& target) {
  options.value("seed", "NUMBER", target.seed, "what the random numbers start from");
}

void add_output_options(Options& options, CommonOptions& target, std::string what_it_holds) {
  options.custom("output,o", "FILE.h5", target.output, std::move(what_it_holds), "a file name",
                 [&target](std::string_view text) { return parse_value(text, target.output); });
  add_dry_run_option(options, target);
}

void add_dry_run_option(Options& options, CommonOptions& target) {
  options.flag("dry-run", target.dry_run, "show the plan and the memory it needs, and stop");
}

}  // namespace ts::app
