// tskmeans: clusters of the points in a file.
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/tskmeans/options.hpp"
#include "tallskinny/app/tskmeans/run.hpp"

namespace {

int tskmeans(ts::app::Arguments arguments, const ts::app::Ranks& ranks) {
  ts::tskmeans::ProgramOptions options;
  if (!options.parse(arguments)) return ts::app::exit_ok;
  const ts::app::StandardInput input(options.features, ranks);
  return ts::app::work_on_devices("tskmeans", options.common.device, ranks,
                                  [&options](const ts::app::Ranks& all) { return ts::tskmeans::run(options, all); });
}

}  // namespace

int main(int argc, char** argv) { return ts::app::run_on_ranks("tskmeans", argc, argv, tskmeans); }
