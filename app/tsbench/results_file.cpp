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
  app::JsonObject all = header_;
  all.add("results", results_);
  app::write_text_file(path_, all.text() + "\n");
  written_at_ = since_.seconds();
}

}  // namespace ts::bench
