#include "tallskinny/app/common/html_page.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/markup.hpp"
#include "tallskinny/tests/support/test.hpp"

using app::Chart;

TEST_CASE("a chart draws every mark that can be drawn", "[chart]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto lines = Chart("", {"x"}, {"y", true})
                         .line({{0, 1}, {1, 10}, {2, 0}, {3, nan}}, "c0")  // 0 has no logarithm
                         .line({{0, 5}}, "c1")                             // one point is a dot
                         .line({{nan, 5}}, "c2")
                         .svg();
  CHECK(count(lines, "<polyline") == 1);
  CHECK(count(lines, ",") == 2);
  CHECK(count(lines, "<circle") == 1);
  CHECK(count(lines, "class=\"c2\"") == 0);
  const auto dots = Chart("", {"x"}, {"y"}).dots({{0, 0}, {1, 1}, {nan, 1}}, "c0 soft", "a < b").svg();
  CHECK(count(dots, "<circle") == 2);
  CHECK(count(dots, "<title>a &lt; b</title>") == 2);
  const auto boxes = Chart("", {"x"}, {"y"}).box({0, 0}, {1, 2}, "c0").box({1, 0}, {2, nan}, "c1").svg();
  CHECK(count(boxes, "<rect") == 1);
  for (const std::string& svg : {lines, dots, boxes}) {
    CHECK(count(svg, "nan") == 0);
    CHECK(tags_are_balanced(svg));
  }
}

TEST_CASE("axes say what they show", "[chart]") {
  const auto decades = Chart("t & u", {"x", true, 1, 1e4}, {"y"}).line({{1, 0}, {1e4, 5}}, "c0").svg();
  for (const char* label : {">1e0<", ">1e1<", ">1e2<", ">1e3<", ">1e4<", ">0<", ">5<", ">x<", ">y<"})
    CHECK(count(decades, label) == 1);
  CHECK(count(decades, "t &amp; u") == 2);  // the title is drawn and told to those who cannot see
  const auto within_one = Chart("", {"x", true}, {"y"}).line({{2, 0}, {6, 1}}, "c0").svg();
  for (const char* label : {">3<", ">4<", ">5<"}) CHECK(count(within_one, label) == 1);
  const auto named = Chart("", {.names = {"first", "second"}}, {}).box({0, 0}, {1, 1}, "c0").svg();
  CHECK(count(named, ">first<") == 1);
  CHECK(count(named, ">second<") == 1);
}

TEST_CASE("marks beyond a limit lie at it", "[chart]") {
  const auto svg = Chart("", {"", false, 0, 1}, {"", false, 0, 1}).dots({{0.5, 1}, {0.5, 7}}, "c0").svg();
  const auto first = svg.find("<circle"), second = svg.find("<circle", first + 1);
  REQUIRE(second != std::string::npos);
  CHECK(svg.substr(first, second - first) == svg.substr(second, second - first));
}

TEST_CASE("a chart of nothing, of one point and of equal ones has axes", "[chart]") {
  for (const bool logarithmic : {false, true})
    for (const std::vector<app::Point>& points :
         {std::vector<app::Point>{}, {{2, 3}}, {{1e300, 1e-300}, {1e300, 1e-300}}, {{-1, 0}, {-1, 0}}}) {
      const auto svg = Chart("", {"", logarithmic}, {"", logarithmic}).line(points, "c0").svg();
      CHECK(count(svg, "nan") == 0);
      CHECK(count(svg, "inf") == 0);
      CHECK(count(svg, "<text") >= 2);
    }
}

TEST_CASE("an axis that counts is marked at whole numbers", "[chart]") {
  const auto few = Chart("", app::counts("cluster"), app::counts("points")).box({-0.4, 0}, {0.4, 1}, "c0").svg();
  for (const char* part : {">0.5<", ">-0.2<", ">0.2<"}) CHECK(count(few, part) == 0);
  CHECK(count(few, ">0<") == 2);
  CHECK(count(few, ">1<") == 1);
  const auto third = Chart("", app::counts("iteration"), {"inertia"}).line({{3, 1}}, "c0").svg();
  CHECK(count(third, ">3<") == 1);
  const auto many = Chart("", app::counts("n"), {}).line({{0, 1}, {1234567, 2}}, "c0").svg();
  CHECK(count(many, ">1,000,000<") == 1);
}

TEST_CASE("a diamond has its words and its tooltip; a chart without a title says what it shows", "[chart]") {
  const auto svg = Chart("", {"size"}, {"height"}).diamond({1, 2}, "c3", "7", "a < b").svg();
  for (const char* part : {"<path", ">7<", "<title>a &lt; b</title>", "class=\"c3\"", "<title>height by size</title>"})
    CHECK(count(svg, part) == 1);
  CHECK(tags_are_balanced(svg));
  CHECK(Chart("", {"only"}, {}).name() == "only");
  CHECK(Chart("title", {"x"}, {"y"}).name() == "title");
}

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
  const TemporaryFolder folder;
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
