// Line drawings as inline SVG.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ts::app::tssolve {

/// A range of data on one side of a chart. Logarithmic ones take log10 of what they are given.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::string label;
};

/// A chart with labelled axes. Points that are not finite, or not positive on a logarithmic axis, are left
/// out.
class Chart {
 public:
  Chart(Axis x, Axis y, std::string title);

  using Points = std::vector<std::pair<double, double>>;
  /// `style` is a class of the page's style sheet.
  void line(const Points& points, std::string_view style);
  void dot(double x, double y, std::string_view style, std::string_view title);
  void text(double x, double y, std::string_view text);
  [[nodiscard]] std::string svg() const;

  static constexpr double width = 760, height = 300;

 private:
  [[nodiscard]] bool place(double x, double y, double& px, double& py) const;
  void ticks(const Axis& axis, bool horizontal);

  Axis x_, y_;
  std::string title_, body_;
};

}  // namespace ts::app::tssolve
