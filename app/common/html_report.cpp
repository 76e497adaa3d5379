#include "tallskinny/app/common/html_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/common/text_file.hpp"

namespace ts::app {

namespace {

constexpr double width = 640, height = 320, left = 78, right = 16, top = 14, bottom = 46;

/// Eight hues that differ for most eyes (Okabe, Ito 2008), then the same again.
constexpr std::array colours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                "#56b4e9", "#d55e00", "#8a8a00", "#444444"};
std::string colour(int group) {
  return colours[static_cast<std::size_t>(std::max(0, group)) % colours.size()];
}

std::string fixed(double x) {
  return short_number(std::round(x * 10) / 10, 6);
}

/// One axis: values from low to high along `length` units of the picture.
struct Scale {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool logarithmic = false;

  [[nodiscard]] double value(double x) const { return logarithmic ? std::log10(x) : x; }
  [[nodiscard]] bool shows(double x) const { return std::isfinite(x) && (!logarithmic || x > 0); }
  void include(double x) {
    if (shows(x)) low = std::min(low, value(x)), high = std::max(high, value(x));
  }
  /// A margin, and something to show where there is one value or none.
  void settle() {
    if (!(low <= high)) low = 0, high = 1;
    if (low == high) low -= low == 0 ? 1 : std::abs(low) / 2, high += high == 0 ? 1 : std::abs(high) / 2;
  }
  [[nodiscard]] double place(double x) const { return (value(x) - low) / (high - low); }
  /// Round numbers within, about `wanted` of them.
  [[nodiscard]] std::vector<double> ticks(int wanted) const {
    const double raw = (high - low) / wanted, power = std::pow(10, std::floor(std::log10(raw)));
    const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
    std::vector<double> found;
    for (double t = std::ceil(low / step) * step; t <= high + step * 1e-9 && found.size() < 20; t += step)
      found.push_back(std::abs(t) < step * 1e-9 ? 0 : t);
    return found;
  }
};

class Picture {
 public:
  Picture(const Axes& axes, Scale x, Scale y) : x_(x), y_(y) {
    x_.settle(), y_.settle();
    svg_ = "<svg viewBox=\"0 0 " + fixed(width) + ' ' + fixed(height) + "\" role=\"img\">\n";
    for (const double t : x_.ticks(7)) {
      const double at = left + (t - x_.low) / (x_.high - x_.low) * (width - left - right);
      text(at, height - bottom + 16, "middle", short_number(t, 4));
    }
    for (const double t : y_.ticks(5)) {
      const double at = height - bottom - (t - y_.low) / (y_.high - y_.low) * (height - top - bottom);
      line(left, at, width - right, at, "grid");
      text(left - 6, at + 4, "end", short_number(y_.logarithmic ? std::pow(10, t) : t, 4));
    }
    line(left, height - bottom, width - right, height - bottom, "axis");
    line(left, top, left, height - bottom, "axis");
    text((left + width - right) / 2, height - 8, "middle", axes.x);
    svg_ += "<text transform=\"translate(14 " + fixed((top + height - bottom) / 2) +
            ") rotate(-90)\" text-anchor=\"middle\">" + markup_text(axes.y) + "</text>\n";
  }

  [[nodiscard]] double px(double x) const { return left + x_.place(x) * (width - left - right); }
  [[nodiscard]] double py(double y) const { return height - bottom - y_.place(y) * (height - top - bottom); }
  [[nodiscard]] bool shows(double x, double y) const { return x_.shows(x) && y_.shows(y); }

  void add(const std::string& element) { svg_ += element; }
  void text(double x, double y, const char* anchor, const std::string& words, const std::string& fill = {}) {
    svg_ += "<text x=\"" + fixed(x) + "\" y=\"" + fixed(y) + "\" text-anchor=\"" + anchor + '"' +
            (fill.empty() ? "" : " fill=\"" + fill + '"') + '>' + markup_text(words) + "</text>\n";
  }
  [[nodiscard]] std::string finish() && { return svg_ + "</svg>\n"; }

 private:
  void line(double x1, double y1, double x2, double y2, const char* kind) {
    svg_ += std::string("<line class=\"") + kind + "\" x1=\"" + fixed(x1) + "\" y1=\"" + fixed(y1) +
            "\" x2=\"" + fixed(x2) + "\" y2=\"" + fixed(y2) + "\"/>\n";
  }

  Scale x_, y_;
  std::string svg_;
};

constexpr std::string_view style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:720px;margin:2em auto;padding:0 1em;color:#222;"
    "background:#fff}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:1.8em}"
    "table{border-collapse:collapse}td,th{padding:.15em .9em .15em 0;text-align:left;vertical-align:top}"
    "th{border-bottom:1px solid #999}svg{width:100%;height:auto;font:11px system-ui,sans-serif}"
    ".grid{stroke:#e4e4e4}.axis{stroke:#888}";

}  // namespace

HtmlReport::HtmlReport(const std::string& title) {
  body_ = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" +
          markup_text(title) + "</title>\n<style>" + std::string(style) + "</style>\n</head>\n<body>\n<h1>" +
          markup_text(title) + "</h1>\n";
}

HtmlReport& HtmlReport::heading(std::string_view text) {
  body_ += "<h2>" + markup_text(text) + "</h2>\n";
  return *this;
}

HtmlReport& HtmlReport::paragraph(std::string_view text) {
  body_ += "<p>" + markup_text(text) + "</p>\n";
  return *this;
}

HtmlReport& HtmlReport::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  body_ += "<table>\n";
  for (const auto& [name, value] : rows)
    body_ += "<tr><td>" + markup_text(name) + "</td><td>" + markup_text(value) + "</td></tr>\n";
  body_ += "</table>\n";
  return *this;
}

HtmlReport& HtmlReport::table(const std::vector<std::string>& header,
                              const std::vector<std::vector<std::string>>& rows) {
  body_ += "<table>\n<tr>";
  for (const std::string& cell : header) body_ += "<th>" + markup_text(cell) + "</th>";
  body_ += "</tr>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += "<td>" + markup_text(cell) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</table>\n";
  return *this;
}

HtmlReport& HtmlReport::curves(const Axes& axes, const std::vector<Curve>& all) {
  Scale x, y;
  y.logarithmic = axes.log_y;
  for (const Curve& curve : all)
    for (const Point& p : curve.points)
      if (x.shows(p.x) && y.shows(p.y)) x.include(p.x), y.include(p.y);
  Picture picture(axes, x, y);
  for (std::size_t c = 0; c < all.size(); ++c) {
    std::string path;
    for (const Point& p : all[c].points) {
      if (!picture.shows(p.x, p.y)) continue;
      path += (path.empty() ? "M" : "L") + fixed(picture.px(p.x)) + ' ' + fixed(picture.py(p.y));
      picture.add("<circle r=\"2.5\" cx=\"" + fixed(picture.px(p.x)) + "\" cy=\"" + fixed(picture.py(p.y)) +
                  "\" fill=\"" + colour(static_cast<int>(c)) + "\"/>\n");
    }
    picture.add("<path fill=\"none\" stroke-width=\"1.5\" stroke=\"" + colour(static_cast<int>(c)) +
                "\" d=\"" + path + "\"/>\n");
    if (all.size() > 1 && c < 12)
      picture.text(width - right - 4, top + 14 * static_cast<double>(c + 1), "end", all[c].name,
                   colour(static_cast<int>(c)));
  }
  body_ += std::move(picture).finish();
  return *this;
}

HtmlReport& HtmlReport::bars(const Axes& axes, const std::vector<double>& heights) {
  Scale x, y;
  x.include(-0.5), x.include(static_cast<double>(heights.size()) - 0.5), y.include(0);
  for (const double h : heights) y.include(h);
  Picture picture(axes, x, y);
  const double each = (width - left - right) / static_cast<double>(std::max<std::size_t>(1, heights.size()));
  for (std::size_t m = 0; m < heights.size(); ++m) {
    if (!std::isfinite(heights[m])) continue;
    const double from = picture.py(heights[m]), base = picture.py(0);
    picture.add("<rect x=\"" + fixed(left + each * (static_cast<double>(m) + 0.1)) + "\" y=\"" +
                fixed(std::min(from, base)) + "\" width=\"" + fixed(std::max(0.5, 0.8 * each)) +
                "\" height=\"" + fixed(std::abs(base - from)) + "\" fill=\"" + colour(static_cast<int>(m)) +
                "\"/>\n");
  }
  body_ += std::move(picture).finish();
  return *this;
}

HtmlReport& HtmlReport::scatter(const Axes& axes, const std::vector<GroupedPoint>& points) {
  Scale x, y;
  for (const GroupedPoint& p : points)
    if (std::isfinite(p.x) && std::isfinite(p.y)) x.include(p.x), y.include(p.y);
  Picture picture(axes, x, y);
  for (const GroupedPoint& p : points)
    if (picture.shows(p.x, p.y))
      picture.add("<circle r=\"2\" fill-opacity=\".65\" cx=\"" + fixed(picture.px(p.x)) + "\" cy=\"" +
                  fixed(picture.py(p.y)) + "\" fill=\"" + colour(p.group) + "\"/>\n");
  body_ += std::move(picture).finish();
  return *this;
}

std::string HtmlReport::text() const {
  return body_ + "</body>\n</html>\n";
}

void HtmlReport::write(const std::filesystem::path& file) const {
  write_text_file(file, text());
}

}  // namespace ts::app
