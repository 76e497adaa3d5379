#include "tallskinny/app/common/html_page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::app {

namespace {

/// The ten colours differ for most eyes (ColorBrewer's Dark2 and two more, some of them darker), with a contrast of 3
/// to white and to black. Wide parts scroll by themselves: a page is as wide as its window.
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
  html_ = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>" + name +
          "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<style>" +
          std::string(style) + "</style>\n</head>\n<body>\n<h1>" + name + "</h1>\n";
}

HtmlPage& HtmlPage::heading(std::string_view text) {
  heading_ = markup_text(text);
  html_ += "<h2>" + heading_ + "</h2>\n";
  return *this;
}

HtmlPage& HtmlPage::paragraph(std::string_view text) {
  html_ += "<p>" + markup_text(text) + "</p>\n";
  return *this;
}

HtmlPage& HtmlPage::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  html_ += "<table class=\"facts\">\n";
  for (const auto& [name, value] : rows) html_ += row("td", {name, value});
  html_ += "</table>\n";
  return *this;
}

HtmlPage& HtmlPage::table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                          Cells cells_are) {
  const bool numbers = cells_are == Cells::numbers;
  begin_wide(heading_);
  html_ += (numbers ? "<table class=\"numbers\">\n" : "<table>\n") + row("th", header);
  for (const auto& cells : rows) html_ += row("td", cells);
  html_ += "</table></div>\n";
  return *this;
}

void HtmlPage::begin_wide(const std::string& label) {
  html_ += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + label + "\">\n";
}

HtmlPage& HtmlPage::origin(std::string_view command_line, std::string_view version) {
  return heading("This run")
      .facts({{"command", std::string(command_line)}, {"date", utc_now()}, {"version", std::string(version)}});
}

HtmlPage& HtmlPage::legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  html_ += "<p class=\"legend\">";
  for (const auto& [classes, name] : entries)
    html_ += "<span class=\"" + classes + "\"><i></i>" + markup_text(name) + "</span>\n";
  html_ += "</p>\n";
  return *this;
}

HtmlPage& HtmlPage::chart(const Chart& chart) {
  begin_wide(markup_text(chart.name()));
  html_ += chart.svg() + "</div>\n";
  return *this;
}

HtmlPage& HtmlPage::panels(const std::vector<Chart>& charts) {
  html_ += "<div class=\"panels\">\n";
  for (const Chart& one : charts) html_ += one.svg();
  html_ += "</div>\n";
  return *this;
}

std::string HtmlPage::text() const { return html_ + "</body>\n</html>\n"; }

void HtmlPage::write(const std::filesystem::path& file) const { write_text_file(file, text()); }

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Round numbers from low to high, at most about `wanted`: steps of 1, 2 or 5 times a power of ten, and of at least
/// `least`.
std::vector<double> round_numbers(double low, double high, double wanted, double least = 0) {
  const double rough = std::max((high - low) / wanted, least), power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
  std::vector<double> found;
  for (double t = std::ceil(low / step - 1e-9) * step; t <= high + 1e-9 * step; t += step)
    found.push_back(std::abs(t) < 1e-9 * step ? 0 : t);
  return found;
}

/// Maps the numbers of an axis to positions between two ends of the picture.
class Scale {
 public:
  explicit Scale(const Axis& axis) : axis_(axis) {}

  [[nodiscard]] bool shows(double v) const { return std::isfinite(v) && (!axis_.logarithmic || v > 0); }
  void include(double v) { low_ = std::min(low_, value(v)), high_ = std::max(high_, value(v)); }

  /// All that is to be shown has been included: the axis runs from `from` to `to`.
  void set_range(double from, double to) {
    from_ = from, to_ = to;
    if (!axis_.names.empty()) low_ = -0.5, high_ = static_cast<double>(axis_.names.size()) - 0.5;
    const double margin = axis_.names.empty() && low_ < high_ ? 0.03 * (high_ - low_) : 0;
    if (low_ != 0) low_ -= margin;  // boxes stand on the border
    if (high_ != 0) high_ += margin;
    if (axis_.low) low_ = value(*axis_.low);
    if (axis_.high) high_ = value(*axis_.high);
    if (!std::isfinite(low_) || !std::isfinite(high_)) low_ = 0, high_ = 1;
    if (!(high_ - low_ > 1e-12 * std::max(std::abs(low_), std::abs(high_)))) {
      const double room = low_ == 0 ? 1 : std::abs(low_) / 100;
      low_ -= room, high_ += room;
    }
  }

  [[nodiscard]] double at(double v) const {
    return from_ + std::clamp((value(v) - low_) / (high_ - low_), 0.0, 1.0) * (to_ - from_);
  }

  struct Tick {
    double at;
    std::string label;
  };
  [[nodiscard]] std::vector<Tick> ticks(double wanted) const {
    std::vector<Tick> found;
    if (!axis_.names.empty()) {
      for (std::size_t i = 0; i < axis_.names.size(); ++i)
        found.push_back({at(static_cast<double>(i)), axis_.names[i]});
    } else if (axis_.logarithmic && high_ - low_ >= 1) {
      for (const double t : round_numbers(low_, high_, std::min(wanted, high_ - low_)))
        found.push_back({at(std::pow(10, t)), format("1e%.0f", t)});
    } else {
      const bool log = axis_.logarithmic;
      const double low = log ? std::pow(10, low_) : low_, high = log ? std::pow(10, high_) : high_;
      for (const double t : round_numbers(low, high, wanted, axis_.whole ? 1 : 0))
        if (shows(t)) found.push_back({at(t), axis_.whole ? grouped(std::llround(t)) : short_number(t, 5)});
    }
    return found;
  }

 private:
  [[nodiscard]] double value(double v) const { return axis_.logarithmic ? std::log10(v) : v; }

  const Axis& axis_;
  double low_ = infinity, high_ = -infinity;  ///< of value()
  double from_ = 0, to_ = 1;
};

std::string text_element(double x, double y, const char* anchor, const std::string& words,
                         const char* attributes = "") {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, attributes) + markup_text(words) +
         "</text>\n";
}

std::string dot_element(double x, double y, const std::string& tooltip) {
  const std::string dot = format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"", x, y);
  return dot + (tooltip.empty() ? "/>" : "><title>" + markup_text(tooltip) + "</title></circle>");
}

std::string diamond_element(double x, double y, const std::string& tooltip) {
  return format("<path d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\"><title>", x, y - 6) + markup_text(tooltip) + "</title></path>";
}

}  // namespace

std::string series_style(std::size_t i) { return "c" + std::to_string(i % series_styles); }

Chart::Chart(std::string title, Axis x, Axis y, Size size)
    : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)), size_(size) {}

Chart& Chart::line(std::vector<Point> points, std::string style) {
  marks_.push_back({Kind::line, std::move(points), std::move(style), {}});
  return *this;
}

Chart& Chart::dots(std::vector<Point> points, std::string style, std::string tooltip) {
  marks_.push_back({Kind::dots, std::move(points), std::move(style), std::move(tooltip)});
  return *this;
}

Chart& Chart::box(Point corner, Point opposite, std::string style) {
  marks_.push_back({Kind::box, {corner, opposite}, std::move(style), {}});
  return *this;
}

Chart& Chart::diamond(Point centre, std::string style, std::string words, std::string tooltip) {
  marks_.push_back({Kind::diamond, {centre}, std::move(style), std::move(words), std::move(tooltip)});
  return *this;
}

std::string Chart::name() const {
  if (!title_.empty()) return title_;
  return y_.label.empty() || x_.label.empty() ? y_.label + x_.label : y_.label + " by " + x_.label;
}

std::string Chart::svg() const {
  Scale x(x_), y(y_);
  for (const Mark& m : marks_)
    for (const Point& p : m.points)
      if (x.shows(p.x) && y.shows(p.y)) x.include(p.x), y.include(p.y);

  // The labels of the ticks of y decide where the plot begins.
  const double top = title_.empty() ? 10 : 24, right = size_.width - 16;
  const double bottom = size_.height - (x_.label.empty() ? 22 : 38);
  y.set_range(bottom, top);
  const auto y_ticks = y.ticks((bottom - top) / 30);
  std::size_t longest = 0;
  for (const auto& tick : y_ticks) longest = std::max(longest, tick.label.size());
  const double left = 12 + 6.5 * static_cast<double>(longest) + (y_.label.empty() ? 0 : 18);
  x.set_range(left, right);

  std::string svg = format("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>", size_.width, size_.height);
  svg += markup_text(name()) + "</title>\n";
  if (!title_.empty()) svg += text_element(left, 14, "start", title_, " class=\"title\"");
  for (const auto& tick : y_ticks) {
    if (y_.names.empty())
      svg += format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", left, right, tick.at, tick.at);
    svg += text_element(left - 6, tick.at + 4, "end", tick.label);
  }
  svg +=
      format("<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", left, right, bottom, bottom);
  for (const auto& tick : x.ticks((right - left) / 65)) svg += text_element(tick.at, bottom + 16, "middle", tick.label);
  if (!x_.label.empty()) svg += text_element((left + right) / 2, size_.height - 6, "middle", x_.label);
  if (!y_.label.empty())
    svg += text_element(0, 0, "middle", y_.label,
                        format(" transform=\"translate(13 %.1f) rotate(-90)\"", (top + bottom) / 2).c_str());

  for (const Mark& m : marks_) {
    std::vector<Point> shown;
    for (const Point& p : m.points)
      if (x.shows(p.x) && y.shows(p.y)) shown.push_back({x.at(p.x), y.at(p.y)});
    if (shown.empty() || (m.kind == Kind::box && shown.size() < 2)) continue;
    svg += m.style.empty() ? "<g>" : "<g class=\"" + m.style + "\">";
    if (m.kind == Kind::dots || (m.kind == Kind::line && shown.size() == 1)) {
      for (const Point& p : shown) svg += dot_element(p.x, p.y, m.words);
    } else if (m.kind == Kind::line) {
      svg += "<polyline points=\"";
      for (const Point& p : shown) svg += format("%.1f,%.1f ", p.x, p.y);
      svg += "\"/>";
    } else if (m.kind == Kind::box) {
      const auto [x0, x1] = std::minmax(shown[0].x, shown[1].x);
      const auto [y0, y1] = std::minmax(shown[0].y, shown[1].y);
      svg += format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", x0, y0, std::max(x1 - x0, 0.5),
                    y1 - y0);
    } else {
      svg += diamond_element(shown[0].x, shown[0].y, m.tooltip);
      const char* const anchor = shown[0].x > right - 40 ? "end" : "middle";  // words stay inside
      if (!m.words.empty()) svg += text_element(shown[0].x, shown[0].y - 9, anchor, m.words);
    }
    svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace ts::app
