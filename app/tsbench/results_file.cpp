#include "tallskinny/app/tsbench/results_file.hpp"

#include <filesystem>
#include <fstream>

#include "tallskinny/gemm/core/error.hpp"

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
  write_text(path_, all.text() + "\n");
  written_at_ = since_.seconds();
}

void write_text(const std::string& path, const std::string& text) {
  const std::string beside = path + ".part";
  std::ofstream file(beside);
  file << text;
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(beside, path, failed);
  if (!file || failed) throw Error(Errc::io_failure, "could not write '" + path + "'");
}

}  // namespace ts::bench
