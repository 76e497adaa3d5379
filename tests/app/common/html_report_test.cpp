#include "tallskinny/app/common/html_report.hpp"

#include <fstream>
#include <limits>
#include <sstream>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/temporary_folder.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a page holds what was put in, and loads nothing", "[html_report]") {
  app::HtmlReport page("a <b> & \"c\"");
  page.heading("h")
      .paragraph("1 < 2")
      .facts({{"name", "value>"}})
      .table({"x", "y"}, {{"1", "2"}, {"3", "4"}});
  const std::string text = page.text();
  CHECK(count(text, "a &lt;b&gt; &amp; &quot;c&quot;") == 2);
  CHECK(count(text, "1 &lt; 2") == 1);
  CHECK(count(text, "value&gt;") == 1);
  CHECK(count(text, "<tr>") == 4);
  for (const char* outside : {"http", "src=", "<script", "@import", "url("}) CHECK(count(text, outside) == 0);
}

TEST_CASE("pictures draw every point that can be drawn", "[html_report]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  app::HtmlReport curves("t");
  curves.curves({"x", "y", true}, {{"one", {{0, 1}, {1, 10}, {2, 0}, {3, nan}}}, {"two", {{0, 5}}}});
  CHECK(count(curves.text(), "<circle") == 3);  // 0 has no logarithm
  CHECK(count(curves.text(), ">one<") == 1);
  app::HtmlReport bars("t");
  bars.bars({"x", "y"}, {3, 0, 5, nan});
  CHECK(count(bars.text(), "<rect") == 3);
  app::HtmlReport scatter("t");
  scatter.scatter({"x", "y"}, {{0, 0, 0}, {1, 1, 9}, {nan, 1, 0}});
  CHECK(count(scatter.text(), "<circle") == 2);
  app::HtmlReport none("t");
  none.curves({"x", "y"}, {}).bars({"x", "y"}, {}).scatter({"x", "y"}, {{2, 2, 0}});
  CHECK(count(none.text(), "nan") == 0);
  CHECK(count(none.text(), "inf") == 0);
}

TEST_CASE("a page is written whole or not at all", "[html_report]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "page.html";
  app::HtmlReport page("title");
  page.write(file);
  std::ostringstream read;
  read << std::ifstream(file).rdbuf();
  CHECK(read.str() == page.text());
  CHECK_THROWS_AS(page.write(folder / "no/page.html"), Error);
}
