// What every test takes: Catch2, which no other file includes, so that 2.13 and 3.x both serve; the standard headers;
// the tolerances; and the sentence that a call refuses with. All tests share it as their precompiled header.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as 2.13 has it
#else
#include <catch2/catch.hpp>
#endif

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

namespace ts::test {

/// A matrix whose row i has the entries that fill(i, add) adds by add(column, value).
template <class T, class I = std::int32_t, class Fill>
CsrMatrix<T, I> csr_by_rows(index_t rows, index_t cols, Fill&& fill) {
  CsrMatrix<T, I> a;
  a.rows = rows, a.cols = cols;
  const auto add = [&a](index_t column, const T& value) {
    a.indices.push_back(static_cast<I>(column)), a.values.push_back(value);
  };
  for (index_t i = 0; i < rows; ++i) {
    fill(i, add);
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  return a;
}

/// Whether `part` stands somewhere in `text`.
inline bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

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
