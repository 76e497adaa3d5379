// A page with text, tables and pictures in one file: nothing is loaded from elsewhere, and it reads in print.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ts::app {

/// What the axes of a picture say, and how they run.
struct Axes {
  std::string x, y;
  bool log_y = false;  ///< values that are not positive are left out
};
struct Point {
  double x = 0, y = 0;
};
struct Curve {
  std::string name;
  std::vector<Point> points;
};
/// A point of a scatter plot in the colour of its group.
struct GroupedPoint {
  double x = 0, y = 0;
  int group = 0;
};

class HtmlReport {
 public:
  explicit HtmlReport(const std::string& title);

  HtmlReport& heading(std::string_view text);
  HtmlReport& paragraph(std::string_view text);
  /// Two columns: name and value.
  HtmlReport& facts(const std::vector<std::pair<std::string, std::string>>& rows);
  HtmlReport& table(const std::vector<std::string>& header,
                    const std::vector<std::vector<std::string>>& rows);
  /// Points that are not finite are left out of all pictures.
  HtmlReport& curves(const Axes& axes, const std::vector<Curve>& curves);
  HtmlReport& bars(const Axes& axes, const std::vector<double>& heights);
  HtmlReport& scatter(const Axes& axes, const std::vector<GroupedPoint>& points);

  [[nodiscard]] std::string text() const;
  /// Under a temporary name first: the page is whole or not there. @throws Error(io_failure).
  void write(const std::filesystem::path& file) const;

 private:
  std::string body_;
};

}  // namespace ts::app
