#include "tallskinny/app/common/html_page.hpp"

#include <fstream>
#include <sstream>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/markup.hpp"
#include "tallskinny/tests/support/temporary_folder.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using test::count;
using test::tags_are_balanced;

TEST_CASE("a page holds what was put in, loads nothing, and is well-formed", "[html_page]") {
  app::HtmlPage page("a <b> & \"c\"");
  page.heading("h")
      .paragraph("1 < 2")
      .facts({{"name", "value>"}})
      .table({"x", "y"}, {{"1", "2"}, {"3", "4"}})
      .legend({{"c0", "one & two"}})
      .chart(app::Chart("<t>", {"x"}, {"y"}).line({{0, 1}, {1, 2}}, "c0"))
      .panels({app::Chart("first", {}, {}), app::Chart("second", {}, {})});
  const std::string text = page.text();
  CHECK(count(text, "a &lt;b&gt; &amp; &quot;c&quot;") == 2);
  CHECK(count(text, "1 &lt; 2") == 1);
  CHECK(count(text, "value&gt;") == 1);
  CHECK(count(text, "one &amp; two") == 1);
  CHECK(count(text, "<tr>") == 4);
  CHECK(count(text, "<svg") == 3);
  for (const char* outside : {"http", "src=", "href=", "<script", "@import", "url("}) CHECK(count(text, outside) == 0);
  CHECK(tags_are_balanced(text));
}

TEST_CASE("a page is written whole or not at all", "[html_page]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "page.html";
  app::HtmlPage page("title");
  page.write(file);
  std::ostringstream read;
  read << std::ifstream(file).rdbuf();
  CHECK(read.str() == page.text());
  CHECK_THROWS_AS(page.write(folder / "no/page.html"), Error);
}

TEST_CASE("a page says how it was made, and what is wide scrolls by keys", "[html_page]") {
  app::HtmlPage page("title");
  page.heading("Numbers").table({"x"}, {{"1"}}).chart(app::Chart("curve", {}, {})).origin("p 'a<b'", "p 1.0");
  const std::string text = page.text();
  for (const char* part : {"p 'a&lt;b'", "p 1.0", "Z</td>", "name=\"viewport\"", "aria-label=\"Numbers\"",
                           "aria-label=\"curve\"", "prefers-color-scheme: dark"})
    CHECK(count(text, part) == 1);
  CHECK(count(text, "tabindex=\"0\" role=\"region\"") == 2);
  CHECK(tags_are_balanced(text));
}
