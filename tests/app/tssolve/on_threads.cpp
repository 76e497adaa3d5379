// tssolve on ranks that are threads, as --device cuda:all starts them: the first argument says how many.
#include <cstdlib>

#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/tssolve/solve_file.hpp"

int main(int argc, char** argv) {
  const int ranks = std::atoi(argv[1]);
  const auto body = [ranks](ts::app::Arguments arguments, const ts::app::Ranks&) -> int {
    ts::app::tssolve::Settings settings;
    if (!ts::app::tssolve::parse_settings(arguments, settings)) return ts::app::exit_ok;
    return ts::app::work_on_threads("tssolve", ranks, [&settings](const ts::app::Ranks& all) {
      return ts::app::tssolve::solve_file(settings, all);
    });
  };
  return ts::app::run_on_ranks("tssolve", argc - 1, argv + 1, body);
}
