// Seeding: distances to the nearest candidate, their sums, and rows kept by them; on the host and, if there is one, on
// a GPU.
#include "tallskinny/solvers/kmeans/seeding/potential.hpp"

#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/device.hpp"

using namespace ts;

namespace {

constexpr Philox random_numbers{7, 3};

double number(index_t i, index_t j) {
  return Philox{1, static_cast<std::uint64_t>(j)}.uniform(static_cast<std::uint64_t>(i)) * 2 - 1;
}

template <class T>
struct Case {
  index_t n, d;
  bool col_major = false, weighted = false;

  [[nodiscard]] Matrix<T> buffer() const {
    Matrix<T> x(col_major ? d : n, col_major ? n : d);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < d; ++j) (col_major ? x(j, i) : x(i, j)) = narrowed<T>(5 + number(i, j));
    return x;
  }
  [[nodiscard]] std::vector<double> weights() const {
    std::vector<double> w;
    for (index_t i = 0; weighted && i < n; ++i) w.push_back(static_cast<double>(i % 5) / 4);
    return w;
  }
};

/// use(ctx, rows) on the host and on the device.
template <class T, class Use>
void everywhere(const Case<T>& c, const Use& use) {
  const Matrix<T> x = c.buffer();
  Context ctx;
  if (c.col_major)
    use(ctx, Rows(HostView<const T, Layout::col_major>(x.data(), c.n, c.d, c.n)));
  else
    use(ctx, Rows(x.cview()));
  if (!test::has_device()) return;
  ctx.stream = test::device_stream();
  const auto there = test::copy_there(ctx, x);
  if (c.col_major)
    use(ctx, Rows(ctx.stream, DeviceView<const T, Layout::col_major>(there.data(), c.n, c.d, c.n)));
  else
    use(ctx, Rows(ctx.stream, there.cview()));
}

template <class T>
void check_distances(const Case<T>& c) {
  INFO("n " << c.n << " d " << c.d << " type " << static_cast<int>(dtype_of<T>) << " columns " << c.col_major);
  const std::vector<double> weights = c.weights();
  everywhere(c, [&](const Context& ctx, const Rows& x) {
    INFO("device " << x.on_device());
    const ColumnMoments moments = column_moments(ctx, x);
    const auto chunks = static_cast<std::size_t>((c.n + chunk_rows - 1) / chunk_rows);
    const auto candidates = [&](index_t first, index_t t) {
      Matrix<double> out(t, c.d);
      for (index_t q = 0; q < t; ++q)
        for (index_t j = 0; j < c.d; ++j) out(q, j) = 5 + number(1000003 + first + q, j);
      return out;
    };
    // ||x - c||^2 from the stored numbers.
    std::vector<double> row(static_cast<std::size_t>(c.d));
    const auto distance = [&](const Matrix<double>& to, index_t q) {
      double sum = 0;
      for (index_t j = 0; j < c.d; ++j) sum += std::pow(row[static_cast<std::size_t>(j)] - to(q, j), 2);
      return sum;
    };
    const double eps = test::distance_bound<double>(c.d);
    const std::vector<double> far(static_cast<std::size_t>(c.n), std::numeric_limits<double>::max());
    PerRowArray<double> squared(ctx, x.space(), far);
    const PerRowArray<double> weigh(ctx, x.space(), weights);
    std::vector<double> least = far;
    index_t used = 0;
    for (const index_t t : {1, 5, 14, 40}) {
      INFO("candidates " << t);
      const Matrix<double> some = candidates(used, t);
      std::vector<double> totals(chunks), expected(chunks);
      lower_potential(ctx, {x, moments, some.cview(), squared.view(), weigh.view(), totals});
      const std::vector<double> now = squared.to_host();
      index_t wrong = 0;
      for (index_t i = 0; i < c.n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        x.load(i, row.data());
        for (index_t q = 0; q < t; ++q) least[at] = std::min(least[at], distance(some, q));
        wrong += std::abs(now[at] - least[at]) <= eps * (1 + least[at]) ? 0 : 1;
        expected[at / chunk_rows] += (weights.empty() ? 1 : weights[at]) * least[at];
      }
      CHECK(wrong == 0);
      for (std::size_t chunk = 0; chunk < chunks; ++chunk)
        CHECK(totals[chunk] == Approx(expected[chunk]).epsilon(eps).margin(eps));
      used += t;
    }
    // A row that is a candidate is at distance 0.
    Matrix<double> itself(1, c.d);
    x.load(c.n / 2, itself.data());
    std::vector<double> totals(chunks);
    lower_potential(ctx, {x, moments, itself.cview(), squared.view(), weigh.view(), totals});
    CHECK(squared.to_host()[static_cast<std::size_t>(c.n / 2)] == 0);
    // Rows need not be brought to be candidates; distances have the bits of the host.
    std::vector<index_t> rows;
    for (index_t q = 0; q < 40; ++q) rows.push_back((q * 131 + 7) % c.n);
    Matrix<double> brought(std::ssize(rows), c.d), all(c.n, c.d);
    gather_rows(ctx, x, rows, brought.view());
    for (index_t i = 0; i < c.n; ++i) x.load(i, &all(i, 0));
    const auto lowered = [&](const Context& there, const Rows& by, HostView<const double> given,
                             std::span<const index_t> by_rows) {
      PerRowArray<double> own(there, by.space(), far);
      PerRowArray<std::int32_t> nearest(there, by.space(), c.n, 0xff);
      const PerRowArray<double> weigh_there(there, by.space(), weights);
      lower_potential(there, {by, moments, given, own.view(), weigh_there.view(), totals, nearest.view(), 3, by_rows});
      return std::tuple(own.to_host(), nearest.to_host(), totals);
    };
    const auto by_rows = lowered(ctx, x, {}, rows);
    CHECK(by_rows == lowered(ctx, x, brought.cview(), {}));
    const Context host;
    const auto same = lowered(host, Rows(all.cview()), brought.cview(), {});
    CHECK(std::get<0>(by_rows) == std::get<0>(same));
    CHECK(std::get<1>(by_rows) == std::get<1>(same));
  });
}

}  // namespace

TEMPLATE_TEST_CASE("distances to the nearest candidate", "[assign][sanitize]", double, float, float16, bfloat16) {
  check_distances(Case<TestType>{1, 1});
  check_distances(Case<TestType>{257, 7, false, true});
  check_distances(Case<TestType>{300, 16, true, true});
  check_distances(Case<TestType>{4096, 3});
  check_distances(Case<TestType>{300, 19, true});
  check_distances(Case<TestType>{4097, 33, false, true});
  check_distances(Case<TestType>{260, 130});
  check_distances(Case<TestType>{9000, 5});
}

TEST_CASE("rows are kept by weight times squared distance, or by weight", "[assign]") {
  const index_t n = 3 * chunk_rows + 100;
  std::vector<double> squared, weights;
  for (index_t i = 0; i < n; ++i) {
    squared.push_back(static_cast<double>(i % 7 == 3 ? 0 : i % 11));
    weights.push_back(static_cast<double>(i % 3));
  }
  const auto check = [&](const Context& ctx, Space space) {
    const PerRowArray<double> there(ctx, space, squared), weigh(ctx, space, weights);
    for (const bool evenly : {false, true}) {
      std::vector<index_t> kept;
      for (index_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double value = weights[at] * (evenly ? 1 : squared[at]);
        if (random_numbers.uniform(static_cast<std::uint64_t>(i)) < 0.01 * value) kept.push_back(i);
      }
      CHECK(kept.size() > 100);
      PerRow<const double> by = there.view();
      if (evenly) by.data = nullptr;
      CHECK(keep_rows(ctx, by, weigh.view(), 0.01, random_numbers) == kept);
    }
  };
  Context ctx;
  check(ctx, Space::host);
  if (!test::has_device()) return;
  ctx.stream = test::device_stream();
  check(ctx, Space::device);
}

TEST_CASE("candidates are repeated up to one of few numbers", "[assign]") {
  std::set<index_t> numbers;
  for (index_t count = 9; count <= 1000; ++count) {
    CHECK(with_copies(count) >= count);
    CHECK(with_copies(count) <= count + count / 4);
    numbers.insert(with_copies(count));
  }
  CHECK(numbers.size() <= 28);
}

TEST_CASE("rows are gathered in any order", "[assign]") {
  for (const bool col_major : {false, true}) {
    const Case<float16> c{1000, 9, col_major};
    const std::vector<index_t> numbers = {999, 0, 17, 17, 500};
    everywhere(c, [&](const Context& ctx, const Rows& x) {
      Matrix<double> out(5, 9), one(1, 9);
      gather_rows(ctx, x, numbers, out.view());
      for (index_t q = 0; q < 5; ++q) {
        x.load(numbers[static_cast<std::size_t>(q)], one.data());
        for (index_t j = 0; j < 9; ++j) CHECK(out(q, j) == one(0, j));
      }
      PerRowArray<float> there(ctx, x.space(), 45, 0);
      gather_rows<float>(ctx, x, numbers, there.view());
      const std::vector<float> same = there.to_host();
      for (index_t e = 0; e < 45; ++e)
        CHECK(static_cast<double>(same[static_cast<std::size_t>(e)]) == out(e / 9, e % 9));
    });
  }
}
