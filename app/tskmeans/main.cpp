// tskmeans: clusters of the points in a file.
#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/tskmeans/options.hpp"
#include "tallskinny/app/tskmeans/run.hpp"

namespace {

int tskmeans(ts::app::Arguments arguments, const ts::app::Ranks& ranks) {
  ts::tskmeans::ProgramOptions options;
  return options.parse(arguments) ? ts::tskmeans::run(options, ranks) : ts::app::exit_ok;
}

}  // namespace

int main(int argc, char** argv) { return ts::app::run_on_ranks("tskmeans", argc, argv, tskmeans); }
