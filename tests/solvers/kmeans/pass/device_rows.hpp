// Rows and centroids of many kinds in host and in device memory, for tests that compare what is done with them.
#pragma once

#include "tallskinny/solvers/kmeans/pass/pass.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/numbers.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/device.hpp"

namespace ts::test {

struct Case {
  index_t n, d, k;
  double offset = 0, factor = 1;
  int levels = 128;    ///< different values of an element: few of them make ties
  bool blobs = false;  ///< rows near centroids
  index_t gap = 0;     ///< elements between rows
  bool col_major = false, weighted = false, scaled = false;
  bool copies = false;  ///< every third centroid is a copy of the one before
  double outlying = 0;  ///< every fifth centroid is so much farther out
};

/// Numbers in [-1, 1) with so many levels.
inline double number(index_t i, index_t j, int levels) {
  const auto h = static_cast<std::uint64_t>(i * 7919 + j * 104729 + 17) * 0x9E3779B97F4A7C15u;
  return static_cast<double>((h >> 40) % static_cast<std::uint64_t>(levels)) * 2 / levels - 1;
}

inline Matrix<double> centres(const Case& c) {
  Matrix<double> out(c.k, c.d);
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d; ++j) out(m, j) = c.offset + c.factor * number(m + 1000003, j, c.levels) * 0.75;
  if (c.outlying > 0)
    for (index_t m = 4; m < c.k; m += 5)
      for (index_t j = 0; j < c.d; ++j) out(m, j) += c.outlying * c.factor;
  if (c.copies)
    for (index_t m = 2; m < c.k; m += 3)
      for (index_t j = 0; j < c.d; ++j) out(m, j) = out(m - 1, j);
  return out;
}

/// Results of run(context, rows, case, centroids, weights) for rows in host and in device memory.
template <class T, class Run>
auto host_and_device(const Case& c, const Run& run) {
  const auto centroids = centres(c);
  const index_t ld = (c.col_major ? c.n : c.d) + c.gap, lines = c.col_major ? c.d : c.n;
  Matrix<T> buffer(lines, ld);
  for (index_t i = 0; i < lines; ++i)
    for (index_t j = 0; j < ld; ++j) buffer(i, j) = narrowed<T>(std::nan(""));
  for (index_t i = 0; i < c.n; ++i)
    for (index_t j = 0; j < c.d; ++j) {
      const double own = c.blobs ? centroids(i % c.k, j) + 0.05 * c.factor * number(i, j, c.levels)
                                 : c.offset + c.factor * number(i, j, c.levels);
      (c.col_major ? buffer(j, i) : buffer(i, j)) = narrowed<T>(own);
    }
  std::vector<double> weights, scale;
  for (index_t i = 0; i < c.n; ++i) {
    if (c.weighted) weights.push_back(static_cast<double>(i % 5) / 4);
    if (c.scaled) scale.push_back(0.5 + static_cast<double>(i % 7) / 8);
  }
  Context ctx = device_context();
  const auto there = copy_there(ctx, buffer);
  const PerRowArray<double> scale_there(ctx, Space::device, scale);
  const auto both = [&](const Rows& here, const Rows& on_device) {
    auto of_host = run(ctx, here.scaled(scale), c, centroids, weights);
    return std::pair(std::move(of_host), run(ctx, on_device.scaled(scale_there.view()), c, centroids, weights));
  };
  if (c.col_major)
    return both(HostView<const T, Layout::col_major>(buffer.data(), c.n, c.d, ld),
                {ctx.stream, DeviceView<const T, Layout::col_major>(there.data(), c.n, c.d, ld)});
  return both(HostView<const T>(buffer.data(), c.n, c.d, ld),
              {ctx.stream, DeviceView<const T>(there.data(), c.n, c.d, ld)});
}

template <class T>
std::string text_of(const Case& c) {
  std::ostringstream text;
  text << "n " << c.n << " d " << c.d << " k " << c.k << " type " << static_cast<int>(dtype_of<T>) << " offset "
       << c.offset << " factor " << c.factor << " levels " << c.levels << " gap " << c.gap;
  return text.str();
}

}  // namespace ts::test
