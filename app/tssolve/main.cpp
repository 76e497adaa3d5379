#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/tssolve/solve_file.hpp"

namespace {

int tssolve(ts::app::Arguments arguments, const ts::app::Ranks& ranks) {
  ts::app::tssolve::Settings settings;
  if (!ts::app::tssolve::parse_settings(arguments, settings)) return ts::app::exit_ok;
  const ts::app::StandardInput input(settings.matrix, ranks);
  return ts::app::work_on_devices("tssolve", settings.common.device, ranks, [&settings](const ts::app::Ranks& all) {
    return ts::app::tssolve::solve_file(settings, all);
  });
}

}  // namespace

int main(int argc, char** argv) { return ts::app::run_on_ranks("tssolve", argc, argv, tssolve); }
