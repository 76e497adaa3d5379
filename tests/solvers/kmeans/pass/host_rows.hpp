// Rows and centroids in host memory, and what assign() tells of them.
#pragma once

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/kmeans/pass/pass.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/numbers.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

/// Deterministic numbers in [-1, 1), coarse enough for 16-bit types to hold them exactly.
inline double number(index_t i, index_t j) {
  const auto h = static_cast<std::uint64_t>(i * 7919 + j * 104729 + 17) * 0x9E3779B97F4A7C15u;
  return static_cast<double>(h >> 57) / 64 - 1;
}

template <class T>
Matrix<T> points(index_t n, index_t d, double offset = 0, double factor = 1) {
  Matrix<T> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) x(i, j) = narrowed<T>(offset + factor * number(i, j));
  return x;
}

inline Matrix<double> centres(index_t k, index_t d, double offset = 0, double factor = 1) {
  Matrix<double> c(k, d);
  for (index_t m = 0; m < k; ++m)
    for (index_t j = 0; j < d; ++j) c(m, j) = offset + factor * number(m + 1000003, j) * 0.7;
  return c;
}

inline constexpr Scores exact_scores[] = {Scores::int8, Scores::int16, Scores::float32, Scores::float64};

struct Outcome {
  std::vector<std::int32_t> labels;
  std::vector<double> sums;
  AssignStats stats;
};

inline Outcome run(const Context& ctx, const Rows& x, HostView<const double> c, Scores scores = Scores::float32,
                   std::span<const double> weights = {}) {
  const auto moments = column_moments(ctx, x);
  const double heaviest = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  const FixedPoint unit(moments.max_abs, heaviest, x.rows());
  ClusterSums sums(c.rows(), x.cols());
  Outcome o;
  o.labels.assign(static_cast<std::size_t>(x.rows()), -1);
  o.stats = assign(ctx, {x, moments, c, scores, o.labels, weights, &unit, &sums});
  o.sums = numbers_of(sums, unit);
  return o;
}

inline Context reference() { return Context{.implementation = Implementation::reference}; }

inline std::vector<Simd> instructions() {
  std::vector<Simd> all = {Simd::best};
  for (const Simd simd : {Simd::sse2, Simd::avx2, Simd::avx512, Simd::amx}) {
    Context ctx{.simd = simd};
    try {
      const auto x = points<float>(1, 1);
      run(ctx, Rows(x.cview()), centres(1, 1).cview());
      all.push_back(simd);
    } catch (const Error&) {  // this processor has no such instructions
    }
  }
  return all;
}

/// use(context, scores) for all instructions of the processor and all scores that leave labels exact.
template <class Use>
void for_each_way(const Use& use) {
  for (const Simd simd : instructions())
    for (const Scores scores : exact_scores) {
      Context ctx{.threads = 2, .simd = simd};
      INFO("simd " << static_cast<int>(simd) << " scores " << static_cast<int>(scores));
      use(ctx, scores);
    }
}

template <class T>
void check_against_reference(index_t n, index_t d, index_t k, double offset = 0, double factor = 1) {
  const auto x = points<T>(n, d, offset, factor);
  const auto c = centres(k, d, offset, factor);
  const Outcome expected = run(reference(), Rows(x.cview()), c.cview());
  INFO("n " << n << " d " << d << " k " << k);
  for_each_way([&](Context ctx, Scores scores) {
    for (ctx.threads = 1; ctx.threads <= 3; ctx.threads += 2) {
      const Outcome found = run(ctx, Rows(x.cview()), c.cview(), scores);
      CHECK(found.labels == expected.labels);
      CHECK(found.sums == expected.sums);
      CHECK(found.stats.changed == n);
    }
  });
}

}  // namespace ts::test
