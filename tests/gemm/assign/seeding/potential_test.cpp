// Seeding: distances to the nearest candidate, their sums, and draws; on the host and, if there is one, on a
// GPU.
#include "tallskinny/gemm/assign/seeding/potential.hpp"

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

template <class S, class T>
void check_distances(const Case<T>& c) {
  INFO("n " << c.n << " d " << c.d << " type " << static_cast<int>(dtype_of<T>) << " columns " << c.col_major
            << " score bytes " << sizeof(S));
  const std::vector<double> weights = c.weights();
  everywhere(c, [&](const Context& ctx, const Rows& x) {
    INFO("device " << x.on_device());
    const ColumnMoments moments = column_moments(ctx, x);
    const SeedingUnit unit{moments, 0.5};
    const auto chunks = static_cast<std::size_t>((c.n + chunk_rows - 1) / chunk_rows);
    const auto candidates = [&](index_t first, index_t t) {
      Matrix<double> out(t, c.d);
      for (index_t q = 0; q < t; ++q)
        for (index_t j = 0; j < c.d; ++j) out(q, j) = 5 + number(1000003 + first + q, j);
      return out;
    };
    // ||(x - c) scale||^2 from the stored numbers.
    std::vector<double> row(static_cast<std::size_t>(c.d));
    const auto distance = [&](const Matrix<double>& to, index_t q) {
      double sum = 0;
      for (index_t j = 0; j < c.d; ++j) sum += std::pow((row[static_cast<std::size_t>(j)] - to(q, j)) * 0.5, 2);
      return sum;
    };
    const double eps = test::distance_bound<S>(c.d);
    PerRowArray<S> squared(ctx, x.space(),
                           std::vector<S>(static_cast<std::size_t>(c.n), std::numeric_limits<S>::max()));
    const PerRowArray<double> weigh(ctx, x.space(), weights);
    std::vector<double> least(static_cast<std::size_t>(c.n), std::numeric_limits<double>::max());
    index_t used = 0;
    for (const index_t t : {1, 5, 14, 40}) {
      INFO("candidates " << t);
      const Matrix<double> some = candidates(used, t);
      Matrix<double> alone(static_cast<index_t>(chunks), t);
      potential_with<S>(ctx, x, unit, some.cview(), squared.view(), weigh.view(), alone.view());
      std::vector<double> totals(chunks), expected(chunks);
      auto expected_alone = Matrix<double>::zeros(static_cast<index_t>(chunks), t);
      lower_potential<S>(ctx, {x, unit, some.cview(), squared.view(), weigh.view(), totals});
      const std::vector<S> now = squared.to_host();
      index_t wrong = 0;
      for (index_t i = 0; i < c.n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double weight = weights.empty() ? 1 : weights[at], before = least[at];
        x.load(i, row.data());
        for (index_t q = 0; q < t; ++q) {
          const double to = distance(some, q);
          least[at] = std::min(least[at], to);
          expected_alone(i / chunk_rows, q) += weight * std::min(before, to);
        }
        wrong += std::abs(static_cast<double>(now[at]) - least[at]) <= eps * (1 + least[at]) ? 0 : 1;
        expected[at / chunk_rows] += weight * least[at];
      }
      CHECK(wrong == 0);
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        CHECK(totals[chunk] == Approx(expected[chunk]).epsilon(eps).margin(eps));
        if (used == 0) continue;  // before, all were at the end of the range
        for (index_t q = 0; q < t; ++q)
          CHECK(alone(static_cast<index_t>(chunk), q) ==
                Approx(expected_alone(static_cast<index_t>(chunk), q)).epsilon(eps).margin(eps));
      }
      used += t;
    }
    // A row that is a candidate is at distance 0.
    Matrix<double> itself(1, c.d);
    x.load(c.n / 2, itself.data());
    std::vector<double> totals(chunks);
    lower_potential<S>(ctx, {x, unit, itself.cview(), squared.view(), weigh.view(), totals});
    CHECK(squared.to_host()[static_cast<std::size_t>(c.n / 2)] == 0);
    // Rows need not be brought to be candidates.
    std::vector<index_t> rows;
    for (index_t q = 0; q < 40; ++q) rows.push_back((q * 131 + 7) % c.n);
    Matrix<double> brought(std::ssize(rows), c.d);
    gather_rows(ctx, x, rows, brought.view());
    const auto lowered = [&](HostView<const double> by, std::span<const index_t> by_rows) {
      PerRowArray<S> own(ctx, x.space(), std::vector<S>(static_cast<std::size_t>(c.n), std::numeric_limits<S>::max()));
      PerRowArray<std::int32_t> nearest(ctx, x.space(), c.n, 0xff);
      lower_potential<S>(ctx, {x, unit, by, own.view(), weigh.view(), totals, nearest.view(), 3, {}, by_rows});
      return std::tuple(own.to_host(), nearest.to_host(), totals);
    };
    CHECK(lowered({}, rows) == lowered(brought.cview(), {}));
  });
}

}  // namespace

TEMPLATE_TEST_CASE("distances to the nearest candidate, and what each would leave", "[assign][sanitize]", double, float,
                   float16, bfloat16) {
  check_distances<float>(Case<TestType>{1, 1});
  check_distances<float>(Case<TestType>{257, 7, false, true});
  check_distances<double>(Case<TestType>{300, 16, true, true});
  check_distances<double>(Case<TestType>{4096, 3});
  check_distances<float>(Case<TestType>{300, 19, true});
  check_distances<float>(Case<TestType>{4097, 33, false, true});
  check_distances<float>(Case<TestType>{260, 130});
  check_distances<double>(Case<TestType>{9000, 5});
}

TEST_CASE("draws follow the running sum, and skip rows of which there is nothing", "[assign]") {
  // Whole numbers: every order of addition gives the same sums.
  const index_t n = 3 * chunk_rows + 100;
  std::vector<float> squared;
  std::vector<double> weights;
  for (index_t i = 0; i < n; ++i) {
    squared.push_back(static_cast<float>(i % 7 == 3 ? 0 : i % 11));
    weights.push_back(static_cast<double>(i % 3));
  }
  const auto value = [&](index_t i) {
    return weights[static_cast<std::size_t>(i)] * static_cast<double>(squared[static_cast<std::size_t>(i)]);
  };
  std::vector<SeedingDraw> draws;
  std::vector<index_t> expected;
  for (index_t first = 0; first < n; first += chunk_rows) {
    const index_t end = std::min(n, first + chunk_rows);
    double total = 0;
    for (index_t i = first; i < end; ++i) total += value(i);
    for (const double share : {0.0, 0.25, 0.5, 0.999, 1.0, 1.5}) {
      draws.push_back({first, std::floor(share * total)});
      index_t row = first;
      double sum = 0;
      for (index_t i = first; i < end && sum <= draws.back().rest; ++i)
        if (value(i) > 0) row = i, sum += value(i);
      expected.push_back(row);
    }
  }
  const auto check = [&](const Context& ctx, Space space) {
    const PerRowArray<float> there(ctx, space, squared);
    const PerRowArray<double> weigh(ctx, space, weights);
    CHECK(draw_rows<float>(ctx, there.view(), weigh.view(), draws) == expected);
    std::vector<index_t> kept;
    for (index_t i = 0; i < n; ++i)
      if (random_numbers.uniform(static_cast<std::uint64_t>(i)) < 0.01 * value(i)) kept.push_back(i);
    CHECK(kept.size() > 100);
    CHECK(keep_rows<float>(ctx, there.view(), weigh.view(), 0.01, random_numbers) == kept);
  };
  Context ctx;
  check(ctx, Space::host);
  if (!test::has_device()) return;
  ctx.stream = test::device_stream();
  check(ctx, Space::device);
}

namespace {

/// Greedy k-means++, one operation after the other.
template <class S>
ChosenRows chosen_one_by_one(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<S> squared,
                             PerRow<const double> weights, const Choosing& how) {
  const index_t chunks = (x.rows() + chunk_rows - 1) / chunk_rows, d = x.cols();
  std::vector<double> totals(static_cast<std::size_t>(chunks));
  const auto lower_by = [&](index_t row) {
    Matrix<double> center(1, d);
    x.load(row, center.data());
    lower_potential<S>(ctx, {x, unit, center.cview(), squared, weights, totals});
  };
  ChosenRows chosen;
  lower_by(0);
  for (;;) {
    chosen.left = std::accumulate(totals.begin(), totals.end(), 0.0);
    if (std::ssize(chosen.rows) == how.most || !(chosen.left > how.enough)) return chosen;
    std::vector<SeedingDraw> draws;
    for (index_t q = 0; q < how.trials; ++q) {
      const auto number = static_cast<std::uint64_t>(std::ssize(chosen.rows) * how.trials + q);
      SeedingDraw draw{0, how.random.uniform(how.first_number + number) * chosen.left};
      for (index_t c = 0; draw.rest >= totals[static_cast<std::size_t>(c)]; ++c)
        draw.rest -= totals[static_cast<std::size_t>(c)], draw.first += chunk_rows;
      draws.push_back(draw);
    }
    const std::vector<index_t> rows = draw_rows<S>(ctx, squared, weights, draws);
    Matrix<double> candidates(how.trials, d), left(chunks, how.trials);
    gather_rows(ctx, x, rows, candidates.view());
    potential_with<S>(ctx, x, unit, candidates.cview(), squared, weights, left.view());
    index_t best = 0;
    const auto total = [&](index_t q) {
      double sum = 0;
      for (index_t c = 0; c < chunks; ++c) sum += left(c, q);
      return sum;
    };
    for (index_t q = 1; q < how.trials; ++q)
      if (total(q) < total(best)) best = q;
    chosen.rows.push_back(rows[static_cast<std::size_t>(best)]);
    lower_by(chosen.rows.back());
  }
}

/// Whole numbers, so that every order of addition gives the same sums.
template <class S>
void check_choices(index_t n, index_t d, const Choosing& how, bool weighted) {
  INFO("n " << n << " d " << d << " trials " << how.trials << " score bytes " << sizeof(S));
  Matrix<float> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) x(i, j) = static_cast<float>(std::floor(20 * number(i, j)));
  std::vector<double> weights;
  for (index_t i = 0; weighted && i < n; ++i) weights.push_back(static_cast<double>(i % 3));
  Context ctx;
  ColumnMoments moments = column_moments(ctx, Rows(x.cview()));
  for (double& shift : moments.shift) shift = std::round(shift);
  const SeedingUnit unit{moments, 0.5};
  PerRowArray<S> here(ctx, Space::host, std::vector<S>(static_cast<std::size_t>(n), S{1 << 30}));
  const auto expected =
      chosen_one_by_one<S>(ctx, Rows(x.cview()), unit, here.view(), PerRow<const double>(weights), how);
  ctx.stream = test::device_stream();
  const auto there = test::copy_there(ctx, x);
  std::vector<double> totals(static_cast<std::size_t>((n + chunk_rows - 1) / chunk_rows));
  PerRowArray<S> squared(ctx, Space::device, std::vector<S>(static_cast<std::size_t>(n), S{1 << 30}));
  const PerRowArray<double> weigh(ctx, Space::device, weights);
  const Rows rows(ctx.stream, there.cview());
  Matrix<double> first(1, d);
  rows.load(0, first.data());
  lower_potential<S>(ctx, {rows, unit, first.cview(), squared.view(), weigh.view(), totals});
  const ChosenRows found = choose_rows<S>(ctx, rows, unit, squared.view(), weigh.view(), how);
  CHECK(found.rows == expected.rows);
  CHECK(found.left == expected.left);
  CHECK(squared.to_host() == here.to_host());
  CHECK(found.rows.size() <= static_cast<std::size_t>(how.most));
}

}  // namespace

TEMPLATE_TEST_CASE("on a device, all choices at once are those made one by one", "[assign][gpu]", float, double) {
  check_choices<TestType>(1, 1, {3, 5, 0, random_numbers, 0}, false);
  check_choices<TestType>(20, 3, {5, 40, 0, random_numbers, 9}, false);  // until nothing is left
  check_choices<TestType>(5000, 2, {5, 100, 0, random_numbers, 1000}, true);
  check_choices<TestType>(20000, 7, {8, 60, 0, random_numbers, 0}, false);
  check_choices<TestType>(20000, 40, {8, 60, 3e6, random_numbers, 0}, true);  // until little is left
  check_choices<TestType>(3000, 130, {11, 60, 0, random_numbers, 5}, false);
  check_choices<double>(3000, 130, {11, 250, 0, random_numbers, 5}, false);  // in several launches
  check_choices<TestType>(70000, 16, {16, 40, 0, random_numbers, 5}, true);
}

TEST_CASE("numbers are counted", "[assign]") {
  std::vector<std::int32_t> numbers;
  for (std::int32_t i = 0; i < 100000; ++i) numbers.push_back(i % 7 == 0 ? 3 : i % 900);
  for (const index_t count : {900, 30000}) {
    std::vector<std::uint64_t> expected(static_cast<std::size_t>(count));
    for (const std::int32_t number : numbers) ++expected[static_cast<std::size_t>(number)];
    Context ctx;
    CHECK(count_numbers(ctx, PerRow<const std::int32_t>(numbers), count) == expected);
    if (!test::has_device()) continue;
    ctx.stream = test::device_stream();
    const PerRowArray<std::int32_t> there(ctx, Space::device, numbers);
    CHECK(count_numbers(ctx, there.view(), count) == expected);
  }
}

TEST_CASE("candidates are repeated up to one of few numbers", "[assign]") {
  Matrix<double> c(1000, 2);
  for (index_t q = 0; q < 1000; ++q) c(q, 0) = static_cast<double>(q), c(q, 1) = 1;
  CHECK(with_copies(Context(), c.cview(), Space::host).rows() == 1000);
  std::vector<index_t> numbers;
  for (index_t count = 9; count <= 1000; ++count) {
    const Matrix<double> out = with_copies(Context(), c.cview().rows(0, count), Space::device);
    CHECK(out.rows() >= count);
    CHECK(out.rows() <= count + count / 4);
    CHECK(out(count - 1, 0) == static_cast<double>(count - 1));
    CHECK(out(out.rows() - 1, 0) == static_cast<double>(count - 1));
    if (numbers.empty() || numbers.back() != out.rows()) numbers.push_back(out.rows());
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
