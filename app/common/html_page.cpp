#include "tallskinny/app/common/html_page.hpp"

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/common/text_file.hpp"

namespace ts::app {

namespace {

/// The ten colours differ for most eyes (ColorBrewer's Dark2 and two more, some of them darker), and stand out from
/// white as from black by a ratio of 3. What is wide scrolls by itself: a page is as wide as its window.
constexpr std::string_view style = R"(
:root { color-scheme: light dark; --ink: #222; --faint: #ddd; --line: #888; --back: #fff; --mark: var(--ink); }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --faint: #3a3a3a; --back: #181818; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
       max-width: 1100px; margin: 2em auto; padding: 0 1em; overflow-wrap: break-word; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin: 2em 0 .3em; }
table { border-collapse: collapse; margin: .5em 0; }
td, th { padding: .1em 1em .1em 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--faint); }
.facts td + td { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; overflow-wrap: normal; } .scroll svg { min-width: 560px; }
.scroll:focus-visible { outline: 2px solid #4a90d9; outline-offset: 2px; }
.numbers td { white-space: nowrap; }
.numbers td:nth-child(n+2), .numbers th:nth-child(n+2) { text-align: right; padding: .1em 0 .1em 1em; }
svg { display: block; width: 100%; height: auto; max-width: 800px; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(330px, 100%), 1fr)); gap: 12px; }
text { fill: var(--ink); font: 11px system-ui, sans-serif; } .title { font-weight: bold; }
line { stroke: var(--faint); stroke-width: .8; } .axis { stroke: var(--line); }
polyline { fill: none; stroke: var(--mark); stroke-width: 1.7; } circle, rect, path { fill: var(--mark); }
path { stroke: var(--ink); stroke-width: 1.5; }
g text { paint-order: stroke; stroke: var(--back); stroke-width: 3px; stroke-opacity: .8; }
.thin polyline { stroke-width: .9; stroke-dasharray: 3 2; } .soft { opacity: .65; }
.legend span { margin-right: 1.2em; display: inline-block; }
.legend i { display: inline-block; width: 1.3em; margin-right: .3em; vertical-align: middle;)"
                                   R"( border-top: 3px solid var(--mark); }
.legend .thin i { border-top: 1px dashed; }
.legend .dot i { border: 0; width: .7em; height: .7em; border-radius: 50%; background: var(--mark); }
.c0 { --mark: #1f77b4; } .c1 { --mark: #d95f02; } .c2 { --mark: #1b9e77; } .c3 { --mark: #7570b3; }
.c4 { --mark: #e7298a; } .c5 { --mark: #a6761d; } .c6 { --mark: #5f9a1c; } .c7 { --mark: #1295a4; }
.c8 { --mark: #808080; } .c9 { --mark: #b38600; }
.good { --mark: #1f77b4; } .bad { --mark: #d62728; } .faint { --mark: var(--line); }
)";

std::string row(const char* cell, const std::vector<std::string>& texts) {
  std::string line = "<tr>";
  for (const std::string& text : texts)
    line.append("<").append(cell).append(">").append(markup_text(text)).append("</").append(cell).append(">");
  return line + "</tr>\n";
}

}  // namespace

HtmlPage::HtmlPage(std::string_view title) {
  const std::string name = markup_text(title);
  body_ = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>" + name +
          "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<style>" +
          std::string(style) + "</style>\n</head>\n<body>\n<h1>" + name + "</h1>\n";
}

HtmlPage& HtmlPage::heading(std::string_view text) {
  heading_ = markup_text(text);
  body_ += "<h2>" + heading_ + "</h2>\n";
  return *this;
}

HtmlPage& HtmlPage::paragraph(std::string_view text) {
  body_ += "<p>" + markup_text(text) + "</p>\n";
  return *this;
}

HtmlPage& HtmlPage::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  body_ += "<table class=\"facts\">\n";
  for (const auto& [name, value] : rows) body_ += row("td", {name, value});
  body_ += "</table>\n";
  return *this;
}

HtmlPage& HtmlPage::table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                          Cells cells_are) {
  const bool numbers = cells_are == Cells::numbers;
  begin_wide(heading_);
  body_ += (numbers ? "<table class=\"numbers\">\n" : "<table>\n") + row("th", header);
  for (const auto& cells : rows) body_ += row("td", cells);
  body_ += "</table></div>\n";
  return *this;
}

void HtmlPage::begin_wide(const std::string& label) {
  body_ += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + label + "\">\n";
}

HtmlPage& HtmlPage::origin(std::string_view command_line, std::string_view version) {
  return heading("This run")
      .facts({{"command", std::string(command_line)}, {"date", utc_now()}, {"version", std::string(version)}});
}

HtmlPage& HtmlPage::legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  body_ += "<p class=\"legend\">";
  for (const auto& [classes, name] : entries)
    body_ += "<span class=\"" + classes + "\"><i></i>" + markup_text(name) + "</span>\n";
  body_ += "</p>\n";
  return *this;
}

HtmlPage& HtmlPage::chart(const Chart& chart) {
  begin_wide(markup_text(chart.name()));
  body_ += chart.svg() + "</div>\n";
  return *this;
}

HtmlPage& HtmlPage::panels(const std::vector<Chart>& charts) {
  body_ += "<div class=\"panels\">\n";
  for (const Chart& one : charts) body_ += one.svg();
  body_ += "</div>\n";
  return *this;
}

std::string HtmlPage::text() const { return body_ + "</body>\n</html>\n"; }

void HtmlPage::write(const std::filesystem::path& file) const { write_text_file(file, text()); }

}  // namespace ts::app
