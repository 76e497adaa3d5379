#include "tallskinny/app/tsbench/page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::bench {

namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #222; --faint: #bbb; --back: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --faint: #555; --back: #181818; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
       max-width: 1100px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin: 2em 0 .3em; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(330px, 1fr)); gap: 12px; }
svg { width: 100%; height: auto; } text { fill: var(--ink); font: 11px system-ui, sans-serif; }
.grid { stroke: var(--faint); stroke-width: .5; } polyline { fill: none; stroke-width: 1.8; }
.vendor { stroke-width: .8; stroke-dasharray: 3 2; } .legend span { margin-right: 1.2em; white-space: nowrap; }
)";

constexpr std::array<const char*, 10> colours = {"#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#e7298a",
                                                 "#a6761d", "#66a61e", "#17becf", "#666666", "#e6ab02"};

template <class T>
std::size_t place_of(std::vector<T>& all, const T& one) {
  const auto found = std::find(all.begin(), all.end(), one);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(one);
  return all.size() - 1;
}

/// One panel's frame: 330 x 210, the plot from (34, 22) to (312, 180).
struct Frame {
  double low, high;  // of x
  [[nodiscard]] double x(double value) const {
    return 34 + 278 * (high > low ? (value - low) / (high - low) : .5);
  }
  [[nodiscard]] static double y(double share) { return 180 - 158 * std::min(share, 1.1) / 1.1; }
};

std::string grid_text(const Frame& f, const std::string& title, bool powers) {
  std::string t = format("<text x='34' y='14' font-weight='bold'>%s</text>", title.c_str());
  for (int percent = 0; percent <= 100; percent += 20) {
    const double y = Frame::y(percent / 100.0);
    t += format(
        "<line class='grid' x1='34' x2='312' y1='%.1f' y2='%.1f'/><text x='29' y='%.1f' "
        "text-anchor='end'>%d</text>",
        y, y, y + 4, percent);
  }
  const double step = f.high - f.low > 40 ? 8 : f.high - f.low > 12 ? 4 : f.high - f.low > 6 ? 2 : 1;
  for (double x = std::ceil(f.low / step) * step; x <= f.high; x += step)
    t += format("<text x='%.1f' y='194' text-anchor='middle'>%s%.0f</text>", f.x(x), powers ? "2^" : "", x);
  return t;
}

using Points = std::vector<std::pair<double, double>>;

std::string line_text(const Frame& f, Points points, const char* colour, bool vendor) {
  std::sort(points.begin(), points.end());
  if (points.size() == 1)
    return format("<circle cx='%.1f' cy='%.1f' r='%s' fill='%s'/>", f.x(points[0].first),
                  Frame::y(points[0].second), vendor ? "1.5" : "2.5", colour);
  std::string t = format("<polyline%s stroke='%s' points='", vendor ? " class='vendor'" : "", colour);
  for (const auto& [x, y] : points) t += format("%.1f,%.1f ", f.x(x), Frame::y(y));
  return t + "'/>";
}

/// Where a cell stands in its panel: its width, or for short operands its rows as a power of two.
double x_of(const Cell& c) {
  if (c.table == "short") return std::log2(static_cast<double>(c.n));
  const bool large = c.operation == "tsm2r" || c.operation == "spmm" || c.table == "wide";
  return static_cast<double>(large ? c.q : std::max(c.p, c.q));
}

/// What a line is named by: the operation, and what else is fixed along it.
std::string line_name(const Cell& c) {
  if (c.table == "short" || c.table == "wide")
    return c.operation + format(" %lld", static_cast<long long>(c.p));
  return c.operation;
}

std::string curves(const std::vector<const Cell*>& cells) {
  std::vector<std::string> types, lines;
  Frame frame{HUGE_VAL, -HUGE_VAL};
  for (const Cell* c : cells) {
    place_of(types, c->type), place_of(lines, line_name(*c));
    frame.low = std::min(frame.low, x_of(*c)), frame.high = std::max(frame.high, x_of(*c));
  }
  std::string t = "<p class='legend'>";
  for (std::size_t l = 0; l < lines.size(); ++l)
    t += format("<span style='color:%s'>&#9473; %s</span>", colours[l % colours.size()], lines[l].c_str());
  t += "<span>thin: the vendor's best</span></p><div class='panels'>";
  for (const std::string& type : types) {
    t += "<svg viewBox='0 0 330 200'>" + grid_text(frame, type, cells.front()->table == "short");
    for (std::size_t l = 0; l < lines.size(); ++l) {
      Points ours, vendor;
      for (const Cell* c : cells)
        if (c->type == type && line_name(*c) == lines[l] && c->seconds > 0) {
          ours.emplace_back(x_of(*c), c->share);
          if (c->ratio > 0) vendor.emplace_back(x_of(*c), c->share / c->ratio);
        }
      const char* const colour = colours[l % colours.size()];
      if (!vendor.empty()) t += line_text(frame, vendor, colour, true);
      if (!ours.empty()) t += line_text(frame, ours, colour, false);
    }
    t += "</svg>";
  }
  return t + "</div>\n";
}

/// Pairs of widths: a square each, red at half the roof and less, green at the roof.
std::string squares(const std::vector<const Cell*>& cells) {
  std::vector<std::string> panels;
  std::vector<index_t> widths;
  for (const Cell* c : cells) {
    place_of(panels, c->operation + " " + c->type);
    place_of(widths, c->p), place_of(widths, c->q);
  }
  std::sort(widths.begin(), widths.end());
  const double side = 158.0 / static_cast<double>(widths.size());
  std::string t = "<p>p to the right, q downwards; share of the roof in per cent.</p><div class='panels'>";
  for (const std::string& panel : panels) {
    t += format("<svg viewBox='0 0 330 200'><text x='34' y='14' font-weight='bold'>%s</text>", panel.c_str());
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const auto w = static_cast<long long>(widths[i]);
      const double at = (static_cast<double>(i) + .65) * side;
      t += format("<text x='29' y='%.1f' text-anchor='end'>%lld</text>", 22 + at, w);
      t += format("<text x='%.1f' y='192' text-anchor='middle'>%lld</text>", 34 + 1.7 * at, w);
    }
    for (const Cell* c : cells) {
      if (c->operation + " " + c->type != panel) continue;
      std::vector<index_t>& all = widths;
      const auto column = static_cast<double>(place_of(all, c->p)),
                 row = static_cast<double>(place_of(all, c->q));
      const double hue = 120 * std::clamp((c->share - .5) / .5, 0.0, 1.0);
      t += format("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='hsl(%.0f 65%% 45%%)'/>",
                  34 + 1.7 * column * side, 22 + row * side, 1.7 * side - 1, side - 1, hue);
      t += format("<text x='%.1f' y='%.1f' style='fill:#fff' text-anchor='middle'>%.0f</text>",
                  34 + 1.7 * (column + .5) * side, 22 + (row + .72) * side, 100 * c->share);
    }
    t += "</svg>";
  }
  return t + "</div>\n";
}

}  // namespace

std::string html_page(const PageHeader& h, const std::vector<Cell>& cells) {
  std::string t =
      "<!doctype html><html lang='en'><meta charset='utf-8'><title>tsbench gpu: " +
      app::markup_text(h.device) + "</title><style>" + style + "</style><h1>" + app::markup_text(h.device) +
      "</h1>\n<p>" + app::markup_text(h.date) + ", commit " + app::markup_text(h.commit) + ", against " +
      app::markup_text(h.vendor.empty() ? std::string("nobody") : h.vendor) +
      format(
          ". Roofs of this run: read %.2f TB/s, copy %.2f TB/s. Curves: share of the roof in per cent "
          "against the width.</p>\n",
          h.read_bytes_per_second * 1e-12, h.copy_bytes_per_second * 1e-12);
  std::vector<std::string> sections;
  std::map<std::string, std::vector<const Cell*>> of;
  for (const Cell& c : cells) {
    const std::string section = c.table + ", " + c.form;
    place_of(sections, section);
    of[section].push_back(&c);
  }
  for (const std::string& section : sections) {
    const auto& some = of[section];
    t += "<h2>" + app::markup_text(section) + "</h2>\n" +
         (some.front()->table == "rectangular" ? squares(some) : curves(some));
  }
  return t + "</html>\n";
}

}  // namespace ts::bench
