// What a call refuses with.
#pragma once

#include <string>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::test {

/// The sentence of the ts::Error that f() throws; empty when it throws none.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace ts::test
