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
  /// Columns of numbers behind one of names; or of words.
  enum class Cells { numbers, words };
  HtmlPage& table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                  Cells cells_are = Cells::numbers);
  /// What the styles of the charts that follow stand for: style and name.
  HtmlPage& legend(const std::vector<std::pair<std::string, std::string>>& entries);
  HtmlPage& chart(const Chart& chart);
  /// Small charts side by side.
  HtmlPage& panels(const std::vector<Chart>& charts);

  /// How the page was made, and when: now.
  HtmlPage& origin(std::string_view command_line, std::string_view version);

  [[nodiscard]] std::string text() const;
  /// Under a temporary name first: the page is whole or not there. @throws Error(io_failure).
  void write(const std::filesystem::path& file) const;

 private:
  /// A part that may be wider than the window: it scrolls, by keys too.
  void begin_wide(const std::string& label);

  std::string body_, heading_;
};

}  // namespace ts::app
