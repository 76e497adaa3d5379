// tsdata: makes, converts and inspects the files that the other programs read.
#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsdata/commands.hpp"

namespace {

int tsdata(ts::app::Arguments arguments) {
  const ts::app::EndsOnSignal no_partial_results;
  const ts::app::About about{
      .name = "tsdata",
      .summary = "Makes, converts and inspects files with matrices and feature sets.",
      .usage = "",
      .examples = {{"A matrix with 8000 rows and its exact eigenvalues", "tsdata gen lap3d --n 20 --output lap3d.h5"},
                   {"Contents of a file", "tsdata info lap3d.h5"},
                   {"Matrix Market to HDF5", "tsdata convert bus.mtx.gz bus.h5"}},
      .notes = ""};
  return ts::app::run_command(about,
                              {{"gen", "make a matrix or feature set with a known answer", ts::tsdata::gen},
                               {"convert", "convert a file of any readable format to HDF5", ts::tsdata::convert},
                               {"info", "describe a file and the memory that reading it takes", ts::tsdata::info}},
                              arguments);
}

}  // namespace

int main(int argc, char** argv) { return ts::app::run_program("tsdata", argc, argv, tsdata); }
