// Programs run as a user would run them.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tallskinny/tests/support/files.hpp"

namespace ts::test {

inline std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

struct ProcessResult {
  int code = 0;  ///< exit status, or 128 + signal
  std::string out, err;
  std::uint64_t most_bytes = 0;  ///< that one of them had in memory
};

/// Runs a program to its end with its output caught and nothing to read. `environment` is added to that of
/// the test.
inline ProcessResult run_process(const std::string& program, const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment = {}) {
  const TemporaryFolder folder;
  const std::string out = folder / "out", err = folder / "err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);

  std::vector<std::string> words = {program}, variables = environment;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
  };
  pid_t pid = 0;
  const int failure =
      posix_spawn(&pid, program.c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot run " + program);
  int status = 0;
  rusage used{};
  wait4(pid, &status, 0, &used);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out), content_of(err),
          static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
}

}  // namespace ts::test
