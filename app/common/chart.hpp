// A picture of lines, dots and boxes between two axes, as inline SVG for a page (html_page.hpp).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ts::app {

struct Point {
  double x = 0, y = 0;
};

/// One side of a chart. Marks beyond a limit are drawn at it; limits that are not given are as the marks ask.
struct Axis {
  std::string label = {};
  bool logarithmic = false;
  std::optional<double> low = {}, high = {};
  std::vector<std::string> names = {};  ///< of 0, 1, 2, ..., in place of numbers
  bool whole = false;                   ///< it counts: only whole numbers are marked
};
[[nodiscard]] inline Axis counts(std::string label) { return {.label = std::move(label), .whole = true}; }

/// The style of the i-th of several curves: ten colours, then the same again.
inline constexpr std::size_t series_styles = 10;
[[nodiscard]] std::string series_style(std::size_t i);

/// What is drawn later lies above. A `style` is a list of classes of the page's style sheet: that of a
/// series, good, bad, faint; thin, soft. What is not finite, or not positive on a logarithmic axis, is left
/// out.
class Chart {
 public:
  struct Size {
    double width, height;
  };
  static constexpr Size wide = {760, 300}, panel = {340, 220};

  Chart(std::string title, Axis x, Axis y, Size size = wide);

  /// A line of one point is a dot.
  Chart& line(std::vector<Point> points, std::string style);
  /// The tooltip is that of each of them.
  Chart& dots(std::vector<Point> points, std::string style, std::string tooltip = {});
  Chart& box(Point corner, Point opposite, std::string style);
  /// A diamond with a border, and words above it.
  Chart& diamond(Point centre, std::string style, std::string words, std::string tooltip);

  [[nodiscard]] std::string svg() const;
  /// The title, or what is drawn against what.
  [[nodiscard]] std::string name() const;

 private:
  enum class Kind { line, dots, box, diamond };
  struct Mark {
    Kind kind;
    std::vector<Point> points;
    std::string style, words;
    std::string tooltip = {};
  };

  std::string title_;
  Axis x_, y_;
  Size size_;
  std::vector<Mark> marks_;
};

}  // namespace ts::app
