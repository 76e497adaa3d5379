#include "tallskinny/app/tssolve/svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tallskinny/app/common/text.hpp"

namespace ts::app::tssolve {

namespace {

constexpr double left = 70, right = 20, top = 15, bottom = 45;

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[400];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// Steps of 1, 2 or 5 times a power of ten, about five of them.
double tick_step(double range) {
  const double rough = range / 5, unit = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * unit >= rough) return factor * unit;
  return 10 * unit;
}

}  // namespace

Chart::Chart(Axis x, Axis y, std::string title)
    : x_(std::move(x)), y_(std::move(y)), title_(std::move(title)) {
  for (Axis* axis : {&x_, &y_}) {
    if (axis->logarithmic) axis->low = std::log10(axis->low), axis->high = std::log10(axis->high);
    if (!std::isfinite(axis->low) || !std::isfinite(axis->high)) axis->low = 0, axis->high = 1;
    if (!(axis->high - axis->low > 1e-12 * std::max(std::abs(axis->low), std::abs(axis->high)))) {
      const double margin = axis->low == 0 ? 1 : std::abs(axis->low) * 0.01;
      axis->low -= margin, axis->high += margin;
    }
  }
  body_ += formatted("<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", left,
                     top, width - left - right, height - top - bottom);
  ticks(x_, true);
  ticks(y_, false);
}

void Chart::ticks(const Axis& axis, bool horizontal) {
  double step = tick_step(axis.high - axis.low);
  if (axis.logarithmic) step = std::max(1.0, std::ceil(step));
  for (double t = std::ceil(axis.low / step) * step; t <= axis.high + 1e-9 * step; t += step) {
    const double share = (t - axis.low) / (axis.high - axis.low);
    const double clean = std::abs(t) < 1e-9 * step ? 0 : t;
    const auto label = axis.logarithmic ? formatted("1e%.0f", clean) : short_number(clean, 5);
    if (horizontal)
      body_ += formatted("<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                         left + share * (width - left - right), height - bottom + 16, label.c_str());
    else
      body_ += formatted("<text class=\"tick\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                         left - 6, height - bottom - share * (height - top - bottom) + 4, label.c_str());
  }
  if (horizontal)
    body_ += formatted("<text class=\"label\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", width / 2,
                       height - 8);
  else
    body_ += formatted(
        "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(14 %.1f) rotate(-90)\">",
        (height - bottom + top) / 2);
  body_ += markup_text(axis.label) + "</text>\n";
}

bool Chart::place(double x, double y, double& px, double& py) const {
  if (x_.logarithmic) x = std::log10(x);
  if (y_.logarithmic) y = std::log10(y);
  if (!std::isfinite(x) || !std::isfinite(y)) return false;
  px = left + std::clamp((x - x_.low) / (x_.high - x_.low), 0.0, 1.0) * (width - left - right);
  py = height - bottom - std::clamp((y - y_.low) / (y_.high - y_.low), 0.0, 1.0) * (height - top - bottom);
  return true;
}

void Chart::line(const Points& points, std::string_view style) {
  std::string path;
  for (const auto& [x, y] : points) {
    double px = 0, py = 0;
    if (place(x, y, px, py)) path += formatted("%s%.1f,%.1f", path.empty() ? "" : " ", px, py);
  }
  if (path.empty()) return;
  body_.append("<polyline class=\"").append(style).append("\" points=\"").append(path).append("\"/>\n");
}

void Chart::dot(double x, double y, std::string_view style, std::string_view title) {
  double px = 0, py = 0;
  if (!place(x, y, px, py)) return;
  body_.append("<circle class=\"").append(style);
  body_ += formatted("\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", px, py);
  body_ += markup_text(title) + "</title></circle>\n";
}

void Chart::text(double x, double y, std::string_view text) {
  double px = 0, py = 0;
  if (place(x, y, px, py))
    body_ += formatted("<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", px, py - 8) +
             markup_text(text) + "</text>\n";
}

std::string Chart::svg() const {
  return formatted(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
             width, height) +
         markup_text(title_) + "</title>\n" + body_ + "</svg>\n";
}

}  // namespace ts::app::tssolve
