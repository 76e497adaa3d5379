// Programs run on several ranks: as mpirun starts them or, in a test that is built for them, as threads.
#pragma once

#include "tallskinny/tests/support/process.hpp"

namespace ts::test {

/// Allows any number of ranks on few processors, also in a container whose only user is root. Leaks within MPI are not
/// reported.
inline const std::vector<std::string> mpi_environment = {"OMPI_MCA_rmaps_base_oversubscribe=1",
                                                         "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                                         "ASAN_OPTIONS=detect_leaks=0"};

/// The command that does so.
inline std::vector<std::string> command_on_ranks(int ranks, [[maybe_unused]] const std::string& program,
                                                 const std::vector<std::string>& arguments) {
#ifdef TS_ON_THREADS
  std::vector<std::string> words = {TS_ON_THREADS, std::to_string(ranks)};  // the program, told how many
#else
  std::vector<std::string> words = {TS_MPIEXEC, "-n", std::to_string(ranks), program};
#endif
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

inline ProcessResult run_on_ranks(int ranks, const std::string& program, const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = command_on_ranks(ranks, program, arguments);
  return run_process(words.front(), {words.begin() + 1, words.end()}, mpi_environment);
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
