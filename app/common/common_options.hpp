// The options that all programs share, declared in one place so that they read alike everywhere.
#pragma once

#include <cstdint>
#include <string>

#include "tallskinny/app/common/options.hpp"

namespace ts::app {

struct CommonOptions {
  bool quiet = false;
  bool json = false;
  bool dry_run = false;
  std::string device = "auto";
  std::uint64_t seed = 0;
  std::string output;        ///< empty: no file is written
  std::string command_line;  ///< Options::command_line()
};

/// --quiet, --json
void add_report_options(Options& options, CommonOptions& target);
/// --device, --threads
void add_machine_options(Options& options, CommonOptions& target);
/// --threads, which counts for the whole process: set_default_threads() of gemm/runtime/threads/processors.hpp
void add_threads_option(Options& options);
/// --seed
void add_seed_option(Options& options, CommonOptions& target);
/// --output,-o FILE.h5 with what it will hold, --dry-run
void add_output_options(Options& options, CommonOptions& target, std::string what_it_holds);
void add_dry_run_option(Options& options, CommonOptions& target);

}  // namespace ts::app
