#include <sstream>

#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::app;

TEST_CASE("the help page fits 80 columns whatever the texts") {
  CommonOptions common;
  double tolerance = 1e-8;
  std::string matrix;
  Options options({"tsprobe",
                   "A summary that is rather long and goes on and on until it would not fit a terminal's line.",
                   "MATRIX [options]",
                   {{"An example with a long comment that explains at length what this command is good for.",
                     "tsprobe file.h5:/matrix --tolerance-of-everything 1e-3"}},
                   "A note of several sentences. It has to be broken into lines as well, however long it is."});
  options.positional("MATRIX", matrix, "FILE or FILE.h5:/path, in any of the formats that tsdata info knows");
  options.group("Numbers").value("tolerance-of-everything,t", "REAL", tolerance,
                                 "a help text that is longer than the room to the right of the names");
  options.group("Machine");
  add_machine_options(options, common);
  add_seed_option(options, common);
  options.group("Output");
  add_report_options(options, common);
  add_output_options(options, common, "write the result here");

  std::ostringstream out;
  options.print_help(out);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 80);
    CHECK((line.empty() || line.back() != ' '));
  }
  for (const char* part :
       {"Usage: tsprobe MATRIX [options]", "\nNumbers:\n", "\nMachine:\n", "-t, ", "(default: 1e-08)", "--device",
        "--threads", "--seed", "--output", "--dry-run", "Examples:", "several sentences"}) {
    INFO(part);
    CHECK(out.str().find(part) != std::string::npos);
  }
}

TEST_CASE("text is wrapped between words") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("  a   longwordhere b ", 4) == std::vector<std::string>{"a", "longwordhere", "b"});
  CHECK(wrap("", 10).empty());
}
