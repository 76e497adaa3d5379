// A page with text, tables and charts in one file: nothing is loaded from elsewhere, it follows the reader's
// choice of light or dark, and it is well-formed XML.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tallskinny/app/common/chart.hpp"

namespace ts::app {

class HtmlPage {
 public:
  explicit HtmlPage(std::string_view title);

  HtmlPage& heading(std::string_view text);
  HtmlPage& paragraph(std::string_view text);
  /// Two columns: name and value.
  HtmlPage& facts(const std::vector<std::pair<std::string, std::string>>& rows);
  /// Columns of numbers behind one of names.
  HtmlPage& table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);
  /// What the styles of the charts that follow stand for: style and name.
  HtmlPage& legend(const std::vector<std::pair<std::string, std::string>>& entries);
  HtmlPage& chart(const Chart& chart);
  /// Small charts side by side.
  HtmlPage& panels(const std::vector<Chart>& charts);

  [[nodiscard]] std::string text() const;
  /// Under a temporary name first: the page is whole or not there. @throws Error(io_failure).
  void write(const std::filesystem::path& file) const;

 private:
  std::string body_;
};

}  // namespace ts::app
