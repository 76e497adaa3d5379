// Runs of tskmeans for tests.
#pragma once

#include <csignal>
#include <nlohmann/json.hpp>
#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/support/markup.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

inline ProcessResult tskmeans(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment = {}) {
  return test::run_process(TS_TSKMEANS, arguments, environment);
}

inline nlohmann::json json_of(const ProcessResult& result) {
  INFO(result.err);
  REQUIRE(result.code == 0);
  return nlohmann::json::parse(result.out);
}

/// 300 float32 points in 4 blobs, a vector of weights, and the true labels.
inline std::string blobs_file(const TemporaryFolder& folder) {
  const std::string file = folder / "blobs.h5";
  const generators::Blobs set(300, 5, 4, 0.5, 10, 0, 3);
  io::OutputFile out(file);
  out.write("features", generators::blobs<float>(set));
  std::vector<double> weights(300, 1.0);
  weights[7] = 2.5;
  out.write("weights", std::span<const double>(weights));
  weights[3] = -1;
  out.write("negative", std::span<const double>(weights));
  out.write("few", std::span<const double>(weights).first(10));
  out.commit();
  return file;
}

/// An HDF5 file of these points.
template <class T>
std::string points_file(const TemporaryFolder& folder, const Matrix<T>& points) {
  io::OutputFile out(folder / "x.h5");
  out.write("features", points);
  out.commit();
  return folder / "x.h5";
}

/// The words of a line.
inline std::vector<std::string> words(const std::string& line) {
  std::istringstream text(line);
  return {std::istream_iterator<std::string>(text), {}};
}

inline void expect_same(const nlohmann::json& a, const nlohmann::json& b, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(a.at(name) == b.at(name));
  }
}

}  // namespace ts::test
