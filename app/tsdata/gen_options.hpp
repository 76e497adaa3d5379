// The command line of tsdata gen.
#pragma once

#include <optional>
#include <string>

#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/app/tsdata/recipes.hpp"

namespace ts::tsdata {

struct GenOptions {
  std::string kind;
  Parameters parameters;
  index_t cols = 2, groups = 8;
  std::optional<double> box, offset;
  std::optional<DType> dtype;
  std::optional<index_t> spectrum_count;
  bool full = false;
  int compress = 0;
  app::CommonOptions common;
};

/// False when the program is done (--help). @throws Error(invalid_argument), also for an option that the kind
/// has no use for.
bool parse_gen(app::Arguments arguments, GenOptions& target);

/// The command that makes the same file again, without the program's path.
std::string command_line(app::Arguments arguments);

}  // namespace ts::tsdata
