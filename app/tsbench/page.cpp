#include "tallskinny/app/tsbench/page.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tallskinny/app/common/html_page.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::bench {

namespace {

template <class T>
std::size_t place_of(std::vector<T>& all, const T& one) {
  const auto found = std::find(all.begin(), all.end(), one);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(one);
  return all.size() - 1;
}

/// Where a cell stands in its panel: its width, or for short operands its rows.
double x_of(const Cell& c) {
  if (c.table == "short") return static_cast<double>(c.n);
  const bool large = c.operation == "tsm2r" || c.operation == "spmm" || c.table == "wide";
  return static_cast<double>(large ? c.q : std::max(c.p, c.q));
}

/// What a line is named by: the operation, and what else is fixed along it.
std::string line_name(const Cell& c) {
  if (c.table == "short" || c.table == "wide") return c.operation + format(" %lld", static_cast<long long>(c.p));
  return c.operation;
}

std::vector<app::Point> sorted(std::vector<app::Point> points) {
  std::sort(points.begin(), points.end(), [](app::Point a, app::Point b) { return a.x < b.x; });
  return points;
}

void add_curves(app::HtmlPage& page, const std::vector<const Cell*>& cells) {
  std::vector<std::string> types, lines;
  double low = HUGE_VAL, high = 0;
  for (const Cell* c : cells) {
    place_of(types, c->type), place_of(lines, line_name(*c));
    low = std::min(low, x_of(*c)), high = std::max(high, x_of(*c));
  }
  std::vector<std::pair<std::string, std::string>> legend;
  for (std::size_t l = 0; l < lines.size(); ++l) legend.emplace_back(app::series_style(l), lines[l]);
  legend.emplace_back("thin", "the vendor's best");
  std::vector<app::Chart> panels;
  for (const std::string& type : types) {
    const bool by_rows = cells.front()->table == "short";
    app::Chart chart(type, {"", by_rows, low, high}, {"", false, 0, 110}, app::Chart::panel);
    for (std::size_t l = 0; l < lines.size(); ++l) {
      std::vector<app::Point> ours, vendor;
      for (const Cell* c : cells)
        if (c->type == type && line_name(*c) == lines[l] && c->seconds > 0) {
          ours.push_back({x_of(*c), 100 * c->share});
          if (c->ratio > 0) vendor.push_back({x_of(*c), 100 * c->share / c->ratio});
        }
      chart.line(sorted(std::move(vendor)), app::series_style(l) + " thin");
      chart.line(sorted(std::move(ours)), app::series_style(l));
    }
    panels.push_back(std::move(chart));
  }
  page.legend(legend).panels(panels);
}

/// Pairs of widths: a square each, the redder the farther below the roof.
void add_squares(app::HtmlPage& page, const std::vector<const Cell*>& cells) {
  std::vector<std::string> names;
  std::vector<index_t> widths;
  for (const Cell* c : cells) {
    place_of(names, c->operation + " " + c->type);
    place_of(widths, c->p), place_of(widths, c->q);
  }
  std::sort(widths.begin(), widths.end());
  app::Axis axis;
  for (const index_t w : widths) axis.names.push_back(std::to_string(w));
  std::vector<app::Chart> panels;
  for (const std::string& name : names) {
    app::Chart chart(name, axis, axis, app::Chart::panel);
    for (const Cell* c : cells) {
      if (c->operation + " " + c->type != name || c->seconds == 0) continue;
      const auto x = static_cast<double>(place_of(widths, c->p)), y = static_cast<double>(place_of(widths, c->q));
      const double missing = std::clamp((1 - c->share) / 0.5, 0.0, 1.0);
      chart.box({x - 0.48, y - 0.48}, {x + 0.48, y + 0.48}, "bad", 0.8 * missing);
      chart.text({x, y}, format("%.0f", 100 * c->share));
    }
    panels.push_back(std::move(chart));
  }
  page.paragraph("p to the right, q upwards; share of the roof in per cent.").panels(panels);
}

}  // namespace

std::string html_page(const PageHeader& h, const std::vector<Cell>& cells) {
  app::HtmlPage page("tsbench gpu: " + h.device);
  page.paragraph(h.date + ", commit " + h.commit + ", against " + (h.vendor.empty() ? "nobody" : h.vendor) +
                 format(". Roofs of this run: read %.2f TB/s, copy %.2f TB/s. Curves: share of the roof in per cent "
                        "against the width, for short operands against the number of rows.",
                        h.read_bytes_per_second * 1e-12, h.copy_bytes_per_second * 1e-12));
  std::vector<std::string> sections;
  std::map<std::string, std::vector<const Cell*>> of;
  for (const Cell& c : cells) {
    const std::string section = c.table + ", " + c.form;
    place_of(sections, section);
    of[section].push_back(&c);
  }
  for (const std::string& section : sections) {
    page.heading(section);
    if (of[section].front()->table == "rectangular")
      add_squares(page, of[section]);
    else
      add_curves(page, of[section]);
  }
  return page.text();
}

}  // namespace ts::bench
