#include "tallskinny/app/tsbench/results_file.hpp"

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/text_file.hpp"

namespace ts::bench {

namespace {

void tell(const std::string& file, const std::string& what) {
  app::Console("tsbench", false).note("wrote " + file + ": " + what);
}

}  // namespace

void write_and_tell(const std::string& file, std::string_view text, const std::string& what) {
  app::write_text_file(file, text);
  tell(file, what);
}

void ResultsFile::add(app::JsonObject result) {
  constexpr double every = 5;  // seconds
  results_.push_back(std::move(result));
  if (since_.seconds() - written_at_ > every) write();
}

void ResultsFile::write() {
  if (path_.empty()) return;
  app::JsonObject head = header_;
  std::string all = head.add("results", std::vector<app::JsonObject>{}).text();
  all.resize(all.size() - 3);  // less "]\n}"
  const char* before = "\n    ";
  for (const app::JsonObject& result : results_) {
    all += before + result.text(-1);
    before = ",\n    ";
  }
  app::write_text_file(path_, all + "\n  ]\n}\n");
  written_at_ = since_.seconds();
}

void ResultsFile::finish() {
  write();
  if (!path_.empty()) tell(path_, std::to_string(results_.size()) + " results");
}

}  // namespace ts::bench
