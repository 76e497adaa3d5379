// How the examples look at their own answers.
#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program with 1 and a sentence unless `holds`.
inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}
