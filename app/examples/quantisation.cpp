// An index of vectors as search engines build it: lists by the nearest of coarse centres, and what is left of each
// vector coded by a product quantiser, 8 numbers of one byte for 32 of float32.
// Source: Jegou, Douze, Schmid 2011.
#include <algorithm>
#include <array>
#include <vector>

#include "tallskinny/app/examples/check.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/solvers/driver/cluster.hpp"

namespace {

constexpr ts::index_t n = 8000, queries = 100, d = 32, lists = 32, parts = 8, width = d / parts, codes = 128;
constexpr std::size_t near = 10, probes = 8, short_list = 200;

/// The first float32 numbers of vectors in 64 groups.
ts::Matrix<float> vectors(const ts::Context& ctx, ts::index_t rows, std::uint64_t seed) {
  ts::Matrix<float> x(rows, d), group(64, d);
  ts::fill_random<float>(ctx, ts::Philox{seed}, x.view());
  ts::fill_random<float>(ctx, ts::Philox{99}, group.view());
  for (ts::index_t i = 0; i < rows; ++i)
    for (ts::index_t j = 0; j < d; ++j) x(i, j) = 2 * group(i % 64, j) + x(i, j);
  return x;
}

template <class A, class B>
double squared_distance(const A* a, const B* b, ts::index_t length) {
  double sum = 0;
  for (ts::index_t j = 0; j < length; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/// The numbers of the `count` smallest, smallest first.
std::vector<ts::index_t> smallest(const std::vector<std::pair<double, ts::index_t>>& of, std::size_t count) {
  auto sorted = of;
  count = std::min(count, sorted.size());
  std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count), sorted.end());
  std::vector<ts::index_t> found(count);
  for (std::size_t i = 0; i < count; ++i) found[i] = sorted[i].second;
  return found;
}

struct Index {
  ts::solvers::KMeansResult coarse;
  std::vector<ts::solvers::KMeansResult> of_part;  // labels are the codes
};

Index build(const ts::Context& ctx, const ts::Matrix<float>& x) {
  ts::solvers::KMeansOptions options;
  options.max_iter = 20;
  Index index{ts::solvers::kmeans(ctx, x.cview(), lists, options), {}};
  ts::Matrix<float> left(n, d);  // the residuals
  for (ts::index_t i = 0; i < n; ++i)
    for (ts::index_t j = 0; j < d; ++j)
      left(i, j) =
          x(i, j) - static_cast<float>(index.coarse.centers(index.coarse.labels[static_cast<std::size_t>(i)], j));
  for (ts::index_t p = 0; p < parts; ++p)  // a view of `width` columns: nothing is copied
    index.of_part.push_back(ts::solvers::kmeans(ctx, left.cview().cols(p * width, width), codes, options));
  return index;
}

std::vector<ts::index_t> search(const Index& index, const ts::Matrix<float>& x, const float* query) {
  std::vector<std::pair<double, ts::index_t>> by_list, by_code, exact;
  for (ts::index_t l = 0; l < lists; ++l)
    by_list.emplace_back(squared_distance(query, &index.coarse.centers(l, 0), d), l);
  const auto probed = smallest(by_list, probes);
  for (const ts::index_t l : probed) {
    std::array<std::array<double, codes>, parts> table{};  // of distances, for this list
    std::array<double, d> left{};
    for (ts::index_t j = 0; j < d; ++j) left[static_cast<std::size_t>(j)] = query[j] - index.coarse.centers(l, j);
    for (std::size_t p = 0; p < parts; ++p)
      for (ts::index_t c = 0; c < codes; ++c)
        table[p][static_cast<std::size_t>(c)] =
            squared_distance(&left[p * width], &index.of_part[p].centers(c, 0), width);
    for (std::size_t i = 0; i < n; ++i) {
      if (index.coarse.labels[i] != l) continue;
      double sum = 0;
      for (std::size_t p = 0; p < parts; ++p) sum += table[p][static_cast<std::size_t>(index.of_part[p].labels[i])];
      by_code.emplace_back(sum, static_cast<ts::index_t>(i));
    }
  }
  for (const ts::index_t i : smallest(by_code, short_list)) exact.emplace_back(squared_distance(query, &x(i, 0), d), i);
  return smallest(exact, near);
}

}  // namespace

int main() {
  const ts::Context ctx;
  const auto x = vectors(ctx, n, 1), asked = vectors(ctx, queries, 2);
  const Index index = build(ctx, x);
  std::size_t found = 0;
  for (ts::index_t q = 0; q < queries; ++q) {
    std::vector<std::pair<double, ts::index_t>> all;
    for (ts::index_t i = 0; i < n; ++i) all.emplace_back(squared_distance(&asked(q, 0), &x(i, 0), d), i);
    const auto truth = smallest(all, near), mine = search(index, x, &asked(q, 0));
    for (const ts::index_t i : truth) found += static_cast<std::size_t>(std::count(mine.begin(), mine.end(), i));
  }
  const double recall = static_cast<double>(found) / (near * queries);
  std::printf("recall of the %zu nearest: %.3f, from %zu of %lld lists\n", near, recall, probes,
              static_cast<long long>(lists));
  expect(recall > 0.9, "nine of ten are found");
}
