// The sentence of a program that ends in another way than by returning from main: no memory where nothing may throw, a
// crash, a library that calls exit (as HDF5 does when memory is short). A sentence, exit status 1, no unfinished file.
#pragma once

namespace ts::app {

/// Before anything else in a process; crashes that somebody else answers, as a sanitizer does, are left to that.
void install_last_words() noexcept;

/// While one lives, exit() is called by a library that gives up.
class NoExit {
 public:
  NoExit() noexcept;
  ~NoExit();
  NoExit(const NoExit&) = delete;
  NoExit& operator=(const NoExit&) = delete;
};

}  // namespace ts::app
