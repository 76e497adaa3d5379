#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/tssolve/flags.hpp"
#include "tallskinny/app/tssolve/solve_file.hpp"

int main(int argc, char** argv) {
  return ts::app::run_on_ranks(
      "tssolve", argc, argv, [](ts::app::Arguments arguments, const ts::app::Ranks& ranks) -> int {
        ts::app::tssolve::Settings settings;
        if (!ts::app::tssolve::parse_settings(arguments, settings)) return ts::app::exit_ok;
        try {
          return ts::app::tssolve::solve_file(std::move(settings), ranks);
        } catch (const ts::Error& error) {
          throw ts::Error(error.code(), ts::app::tssolve::with_flags(error.what()), error.where());
        }
      });
}
