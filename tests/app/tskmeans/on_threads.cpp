// tskmeans on ranks that are threads, as --device cuda:all starts them: the first argument says how many.
#include <cstdlib>

#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/tskmeans/run.hpp"

int main(int argc, char** argv) {
  const int ranks = std::atoi(argv[1]);
  const auto body = [ranks](ts::app::Arguments arguments, const ts::app::Ranks&) -> int {
    ts::tskmeans::ProgramOptions options;
    if (!options.parse(arguments)) return ts::app::exit_ok;
    return ts::app::work_on_threads("tskmeans", ranks,
                                    [&options](const ts::app::Ranks& all) { return ts::tskmeans::run(options, all); });
  };
  return ts::app::run_on_ranks("tskmeans", argc - 1, argv + 1, body);
}
