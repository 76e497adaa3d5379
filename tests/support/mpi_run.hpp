// Programs run on several ranks, as mpirun starts them.
#pragma once

#include "tallskinny/tests/support/process.hpp"

namespace ts::test {

/// As many ranks as wished on however few processors, also in a container whose only user is root. What MPI itself does
/// not free is its own affair.
inline const std::vector<std::string> mpi_environment = {"OMPI_MCA_rmaps_base_oversubscribe=1",
                                                         "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                                         "ASAN_OPTIONS=detect_leaks=0"};

inline ProcessResult run_on_ranks(int ranks, const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"-n", std::to_string(ranks), program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_process(TS_MPIEXEC, words, mpi_environment);
}

/// The lines that are a program's own, of those that a launcher adds its banners to.
inline std::vector<std::string> lines_of(const std::string& program, const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.starts_with(program + ": ")) lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

}  // namespace ts::test
