// tssolve on several ranks, and what its runs leave.
#pragma once

#include "tallskinny/tests/app/tssolve/runs.hpp"
#include "tallskinny/tests/support/mpi_run.hpp"

namespace ts::test {

inline nlohmann::json solve_on(int ranks, const Words& words, int code = 0) {
  const Words all = joined(words, {"--json", "--quiet", "--determinism", "gpu_to_gpu"});
  const ProcessResult r = ranks == 1 ? tssolve(all) : run_on_ranks(ranks, TS_TSSOLVE, all);
  INFO(r.err);
  REQUIRE(r.code == code);
  return nlohmann::json::parse(r.out);  // one object, whoever printed it
}

/// The Laplace matrix of a cube, in a file.
inline std::string cube(const TemporaryFolder& folder, index_t edge = 20) {
  return write_sparse(folder / "lap.h5", generators::laplacian({edge, edge, edge}));
}

inline bool same_bits(const std::string& a, const std::string& b) {
  return same(dense_in(a + ":/eigenvectors"), dense_in(b + ":/eigenvectors"));
}

}  // namespace ts::test
