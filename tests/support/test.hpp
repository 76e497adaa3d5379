// Included by every test: Catch2, which no other file includes, so that 2.13 and 3.x both serve; standard headers;
// tolerances; and the message that a call refuses with. All tests share it as their precompiled header.
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
#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

namespace ts::test {

/// The matrix of the elements f(i, j).
template <class T, Layout L = Layout::row_major, class F>
Matrix<T, Space::host, L> matrix_of(index_t rows, index_t cols, F&& f) {
  Matrix<T, Space::host, L> a(rows, cols);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) a(i, j) = f(i, j);
  return a;
}

/// The largest f(i, j), which is not negative; NaN where one is.
template <class F>
double largest_of(index_t rows, index_t cols, F&& f) {
  double most = 0;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j)
      if (const auto x = static_cast<double>(f(i, j)); !(x <= most)) most = x;
  return most;
}

/// max |A - B| of two matrices or views
template <class A, class B>
double max_difference(const A& a, const B& b) {
  return largest_of(a.rows(), a.cols(), [&](index_t i, index_t j) { return std::abs(a(i, j) - b(i, j)); });
}

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

template <class T>
CsrMatrix<T> diagonal(const std::vector<T>& values) {
  const auto n = static_cast<index_t>(values.size());
  return csr_by_rows<T>(n, n, [&](index_t i, auto add) { add(i, values[static_cast<std::size_t>(i)]); });
}

/// f(i, j, a_ij) may change each entry that is stored.
template <class T, class I, class F>
void change_entries(CsrMatrix<T, I>& a, F&& f) {
  for (index_t i = 0; i < a.rows; ++i)
    for (auto e = static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i) + 1]); ++e)
      f(i, static_cast<index_t>(a.indices[e]), a.values[e]);
}

template <class T, class I>
Matrix<T> dense_of(const CsrMatrix<T, I>& a) {
  auto dense = Matrix<T>::zeros(a.rows, a.cols);
  for_each_entry(a.view(), [&](index_t i, index_t j, const T& x) { dense(i, j) += x; });
  return dense;
}

template <class T>
bool same(const Matrix<T>& a, const Matrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data());
}
template <class T>
bool same(const CsrMatrix<T>& a, const CsrMatrix<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.pointers == b.pointers && a.indices == b.indices &&
         a.values == b.values;
}

/// True if `part` occurs in `text`.
inline bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The ts::Error that f() throws.
template <class F>
std::optional<Error> error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return {};
}

/// Its sentence; empty where f() throws none.
template <class F>
std::string message_of(F&& f) {
  const auto error = error_of(std::forward<F>(f));
  return error ? error->what() : std::string();
}

/// That of f(), which must throw one of this kind.
template <class F>
std::string message_of(Errc code, F&& f) {
  const auto error = error_of(std::forward<F>(f));
  REQUIRE(error);
  CHECK(error->code() == code);
  return error->what();
}

}  // namespace ts::test

// Tests are written in these. What a file of the library says is looked up in its own namespace first.
using namespace ts;
using namespace ts::test;
