// tssolve on several ranks, and what its runs leave.
#pragma once

#include "tallskinny/tests/app/tssolve/runs.hpp"
#include "tallskinny/tests/support/mpi_run.hpp"

namespace ts::test {

using Words = std::vector<std::string>;

inline Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline nlohmann::json solve_on(int ranks, const Words& words, int code = 0) {
  const Words all = with(words, {"--json", "--quiet", "--determinism", "gpu_to_gpu"});
  const ProcessResult r = ranks == 1 ? tssolve(all) : run_on_ranks(ranks, TS_TSSOLVE, all);
  INFO(r.err);
  REQUIRE(r.code == code);
  return nlohmann::json::parse(r.out);  // one object, whoever printed it
}

inline bool same_bits(const std::string& a, const std::string& b) {
  const auto x = io::read_dense_as<double>({a, "/eigenvectors"}, {}),
             y = io::read_dense_as<double>({b, "/eigenvectors"}, {});
  return x.rows() == y.rows() && x.cols() == y.cols() && std::equal(x.data(), x.data() + x.rows() * x.cols(), y.data());
}

}  // namespace ts::test
