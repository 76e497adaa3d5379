// Pages of HTML, and pictures of lines, dots and boxes between two axes as SVG in them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ts::app {

struct Point {
  double x = 0, y = 0;
};

/// One side of a chart. Marks beyond a limit are drawn at it; limits that are not given follow from the marks.
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

/// A chart of marks; later marks lie above earlier ones. A `style` is a list of classes of the page's style sheet: that
/// of a series, good, bad, faint; thin, soft. Points that are not finite, or not positive on a logarithmic axis, are
/// left out.
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
  /// The title, or the labels of both axes.
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

class HtmlPage {
 public:
  explicit HtmlPage(std::string_view title);

  HtmlPage& heading(std::string_view text);
  HtmlPage& paragraph(std::string_view text);
  /// Two columns: name and value.
  HtmlPage& facts(const std::vector<std::pair<std::string, std::string>>& rows);
  /// Columns of numbers behind one of names; or of words.
  enum class Cells { numbers, words };
  HtmlPage& table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                  Cells cells_are = Cells::numbers);
  /// Legend of the charts that follow: pairs of style and name.
  HtmlPage& legend(const std::vector<std::pair<std::string, std::string>>& entries);
  HtmlPage& chart(const Chart& chart);
  /// Small charts side by side.
  HtmlPage& panels(const std::vector<Chart>& charts);

  /// Adds how the page was made, and the time: now.
  HtmlPage& origin(std::string_view command_line, std::string_view version);

  [[nodiscard]] std::string text() const;
  /// Writes the page under a temporary name first, so that it is whole or absent. @throws Error(io_failure).
  void write(const std::filesystem::path& file) const;

 private:
  /// A part that may be wider than the window: it scrolls, by keys too.
  void begin_wide(const std::string& label);

  std::string html_, heading_;
};

}  // namespace ts::app
