// Runs of tssolve for tests.
#pragma once

#include <csignal>
#include <nlohmann/json.hpp>
#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/tests/support/markup.hpp"
#include "tallskinny/tests/support/matrix_files.hpp"
#include "tallskinny/tests/support/process.hpp"

namespace ts::test {

using Words = std::vector<std::string>;

inline ProcessResult tssolve(const Words& words) { return run_process(TS_TSSOLVE, words); }

/// A run that ends with this status and says these; why it failed, on standard error.
inline void check_run(const Words& words, int code, const Words& said = {}) {
  const auto r = tssolve(words);
  CAPTURE(words, r.out, r.err);
  CHECK(r.code == code);
  for (const std::string& part : said) CHECK(mentions(code == 0 ? r.out + r.err : r.err, part));
}

inline nlohmann::json solve_json(const Words& words, int code = 0) {
  const auto r = tssolve(joined(words, {"--json", "--quiet"}));
  INFO(r.err);
  REQUIRE(r.code == code);
  return nlohmann::json::parse(r.out);
}

inline nlohmann::json proved(const Words& words) {
  auto json = solve_json(words);
  CHECK(json["verified"] == true);
  return json;
}

inline nlohmann::json plan_of(const Words& words) {
  return nlohmann::json::parse(tssolve(joined(words, {"--dry-run", "--json"})).out);
}

/// Checks the first numbers of `found` against `expected`, each within `tolerance`.
inline void check_near(const nlohmann::json& found, const std::vector<double>& expected, double tolerance) {
  REQUIRE(found.size() >= expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(found[i].get<double>() - expected[i]) < tolerance);
}

inline void check_same(const nlohmann::json& a, const nlohmann::json& b, std::initializer_list<const char*> members) {
  for (const char* member : members) CHECK(a[member] == b[member]);
}

template <class T>
std::string write_sparse(const std::string& file, const CsrMatrix<T>& a) {
  return write_h5(file, "/", a);
}

template <class T = double>
Matrix<T> dense_in(const std::string& where) {
  return io::read_dense_as<T>(io::parse_location(where));
}

inline std::vector<double> list_in(const std::string& where) { return io::read_vector(io::parse_location(where)); }

inline std::string value_of(double x) {
  std::ostringstream text;
  text << x;
  return text.str();
}

}  // namespace ts::test
