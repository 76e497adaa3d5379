#include "tallskinny/app/tsbench/results_file.hpp"

#include "tallskinny/app/common/text_file.hpp"

namespace ts::bench {

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

}  // namespace ts::bench
