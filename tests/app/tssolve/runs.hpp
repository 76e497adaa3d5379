// Runs of tssolve for tests.
#pragma once

#include <algorithm>
#include <complex>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/support/markup.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

inline test::ProcessResult tssolve(const std::vector<std::string>& arguments) {
  return test::run_process(TS_TSSOLVE, arguments);
}

template <class T>
std::string write_sparse(const std::string& file, const CsrMatrix<T>& a) {
  io::OutputFile out(file);
  out.write_binsparse("/", a);
  out.commit();
  return file;
}

inline nlohmann::json solve_json(std::vector<std::string> arguments, int code = 0) {
  arguments.insert(arguments.end(), {"--json", "--quiet"});
  const auto r = tssolve(arguments);
  INFO(r.err);
  REQUIRE(r.code == code);
  return nlohmann::json::parse(r.out);
}

inline std::string value_of(double x) {
  std::ostringstream text;
  text << x;
  return text.str();
}

inline void write_text(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace ts::test
