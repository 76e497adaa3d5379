#include "tallskinny/app/common/run_program.hpp"
#include "tallskinny/app/tssolve/flags.hpp"
#include "tallskinny/app/tssolve/solve_file.hpp"

int main(int argc, char** argv) {
  return ts::app::run_program("tssolve", argc, argv, [](ts::app::Arguments arguments) -> int {
    ts::app::tssolve::Settings settings;
    if (!ts::app::tssolve::parse_settings(arguments, settings)) return ts::app::exit_ok;
    try {
      return ts::app::tssolve::solve_file(std::move(settings));
    } catch (const ts::Error& error) {
      throw ts::Error(error.code(), ts::app::tssolve::with_flags(error.what()), error.where());
    }
  });
}
