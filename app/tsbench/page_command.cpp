#include <iostream>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/page.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"

namespace ts::bench {

int page_command(app::Arguments arguments) {
  std::string results, html;
  app::Options options(
      {"tsbench page",
       "Shows figures that tsbench gpu stored: a summary, and a page of curves.",
       "RESULTS.json [options]",
       {{"the summary again", "tsbench page gpu.json"}, {"curves to look at", "tsbench page gpu.json --html gpu.html"}},
       "Needs no GPU. The page is one file of HTML and SVG."});
  options.positional("RESULTS.json", results, "a file of tsbench gpu --json")
      .value("html", "FILE", html, "write the page of curves here");
  if (!options.parse(arguments)) return app::exit_ok;
  app::check_output_paths({{"--html", html}}, {results});
  const StoredResults stored = read_results(results);
  std::cout << stored.header.device << ", " << stored.header.date << ", commit " << stored.header.commit << '\n';
  print_summary(std::cout, stored.cells);
  if (!html.empty()) write_and_tell(html, html_page(stored.header, stored.cells), "a page of curves");
  return app::exit_ok;
}

}  // namespace ts::bench
