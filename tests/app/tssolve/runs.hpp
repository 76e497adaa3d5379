// Runs of tssolve for tests.
#pragma once

#include <csignal>
#include <nlohmann/json.hpp>
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

/// As many numbers as there are in `expected`, each within `tolerance` of its own.
inline void check_near(const nlohmann::json& found, const std::vector<double>& expected, double tolerance) {
  REQUIRE(found.size() >= expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(found[i].get<double>() - expected[i]) < tolerance);
}

/// The dense matrix of these numbers alone in a file.
template <class T>
std::string write_dense(const std::string& file, const Matrix<T>& a) {
  io::OutputFile out(file);
  out.write("X", a);
  out.commit();
  return file;
}

inline std::string value_of(double x) {
  std::ostringstream text;
  text << x;
  return text.str();
}

inline void write_text(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace ts::test
