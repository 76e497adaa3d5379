// Runs of tsdata for tests.
#pragma once

#include <csignal>
#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

inline ProcessResult tsdata(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment = {}) {
  return test::run_process(TS_TSDATA, arguments, environment);
}

inline ProcessResult expect_ok(const std::vector<std::string>& arguments) {
  const ProcessResult result = tsdata(arguments);
  INFO(result.err);
  CHECK(result.code == 0);
  const auto asks = [&](const char* option) {
    return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
  };
  const bool writes = (arguments[0] == "gen" || arguments[0] == "convert") && !asks("--dry-run") && !asks("--help");
  CHECK(result.err.starts_with("wrote ") == writes);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == (writes ? 1 : 0));
  return result;
}

template <class T>
CsrMatrix<T> sparse(const std::string& where) {
  const io::MatrixFile file = io::read_matrix(io::parse_location(where));
  return std::get<CsrMatrix<T>>(std::get<io::SparseMatrix>(file.matrix));
}

inline bool has(const std::string& text, const std::string& part) { return mentions(text, part); }

}  // namespace ts::test
