// Seeding on a device: greedy k-means++ with many candidates at a time.
#include "tallskinny/gemm/assign/seeding/nearer_launch.hpp"

#include "tallskinny/gemm/assign/rows/per_row.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/device.hpp"

using namespace ts;

namespace {

const Philox numbers_of_rows{7, 2};

/// Rows of directions of their own about a few centres; some are far out, and some copies of others.
Matrix<float> rows_about_centers(index_t n, index_t d, float spread) {
  Matrix<float> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) {
      const index_t row = i % 500 == 7 ? 7 : i;
      const double own = numbers_of_rows.uniform(static_cast<std::uint64_t>(row * d + j)) - 0.5;
      const double center = numbers_of_rows.uniform(static_cast<std::uint64_t>((row % 13 + n) * d + j)) - 0.5;
      x(i, j) = static_cast<float>(center + spread * own) * (i % 1001 == 5 ? 3.0F : 1.0F);
    }
  return x;
}

double distance(const Matrix<float>& x, index_t a, index_t b) {
  double sum = 0;
  for (index_t j = 0; j < x.cols(); ++j)
    sum += std::pow(static_cast<double>(x(a, j)) - static_cast<double>(x(b, j)), 2);
  return sum;
}

void check_search(index_t n, index_t d, index_t count, float spread) {
  constexpr index_t centers = 30;
  INFO("n " << n << " d " << d << " candidates " << count << " spread " << spread);
  Context ctx = test::device_context();
  auto plans = cuda::nearer_plans(n, d, ctx.stream.device());
  if (!plans) return;
  const Matrix<float> x = rows_about_centers(n, d, spread);
  const index_t ld = (d + 3) / 4 * 4;
  auto wide = Matrix<float>::zeros(n, ld);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j) wide(i, j) = x(i, j);
  const auto there = test::copy_there(ctx, wide);
  std::vector<float> squared(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    double least = distance(x, i, 0);
    for (index_t c = 1; c < centers; ++c) least = std::min(least, distance(x, i, c * n / centers));
    squared[static_cast<std::size_t>(i)] = static_cast<float>(least);
  }
  std::vector<index_t> candidates;
  for (index_t q = 0; q < count; ++q) candidates.push_back(q * 37 % n);
  PerRowArray<float> squared_there(ctx, Space::device, squared);
  assign_device::DeviceChoices choices(ctx, *std::move(plans), there.data(), ld, d, squared_there.view(), {});
  cuda::copy_bytes(ctx.stream, choices.numbers(), candidates.data(), candidates.size() * sizeof(index_t));
  const auto found = choices.find(count);
  cuda::word64 total = 0;
  cuda::copy_bytes(ctx.stream, &total, found.total, sizeof total);
  ctx.stream.synchronize();
  REQUIRE(static_cast<index_t>(total) <= choices.most_pairs());
  std::vector<cuda::SeedStretch> stretches(candidates.size());
  std::vector<cuda::SeedPair> pairs(total);
  cuda::copy_bytes(ctx.stream, stretches.data(), found.stretches, stretches.size() * sizeof stretches[0]);
  cuda::copy_bytes(ctx.stream, pairs.data(), found.pairs, pairs.size() * sizeof pairs[0]);
  ctx.stream.synchronize();
  constexpr double open = test::allowed::six_digits;
  index_t missed = 0, wrong = 0, out_of_order = 0, needed = 0;
  for (index_t q = 0; q < count; ++q) {
    const index_t candidate = candidates[static_cast<std::size_t>(q)];
    std::vector<bool> listed(static_cast<std::size_t>(n));
    std::int32_t last = -1;
    const cuda::SeedStretch of = stretches[static_cast<std::size_t>(q)];
    for (const auto& near :
         std::span(pairs).subspan(static_cast<std::size_t>(of.begin), static_cast<std::size_t>(of.count))) {
      out_of_order += near.row <= last;
      last = near.row;
      listed[static_cast<std::size_t>(near.row)] = true;
      const double exact = distance(x, near.row, candidate);
      wrong += std::abs(static_cast<double>(near.squared) - exact) > open * exact;
    }
    for (index_t i = 0; i < n; ++i) {
      const bool nearer =
          distance(x, i, candidate) < static_cast<double>(squared[static_cast<std::size_t>(i)]) * (1 - open);
      needed += nearer;
      missed += nearer && !listed[static_cast<std::size_t>(i)];
    }
  }
  CHECK(missed == 0);
  CHECK(wrong == 0);
  CHECK(out_of_order == 0);
  CHECK((needed > 0 || count == 1));           // the first candidate is a centre
  CHECK(std::ssize(pairs) <= 4 * needed + n);  // bounds leave few others
}

ChosenRows choose(const Context& ctx, const Rows& rows, const ColumnMoments& moments, PerRow<float> squared,
                  PerRow<const double> weights, const Choosing& how) {
  return choose_rows<float>(ctx, rows, {moments, 0.25}, squared, weights, how);
}

}  // namespace

TEST_CASE("on a device, all rows are found that a candidate is nearer to", "[assign][gpu][seeding]") {
  check_search(5000, 128, 300, 1);
  check_search(1000, 97, 1, 1);
  check_search(3001, 768, 129, 0.25F);
  check_search(700, 1400, 64, 1);
  check_search(4096, 3, 256, 1);
}

TEST_CASE("on a device, choices by batches lower squared distances and repeat", "[assign][gpu][seeding]") {
  constexpr index_t n = 20000, d = 300, trials = 6;
  Context ctx = test::device_context();
  if (!cuda::nearer_plans(n, d, ctx.stream.device())) return;
  REQUIRE(cuda::batches_pay(n, d, trials, 1000));
  const Matrix<float> x = rows_about_centers(n, d, 1);
  const ColumnMoments moments = column_moments(ctx, Rows(x.cview()));
  const auto there = test::copy_there(ctx, x);
  const Rows rows(ctx.stream, there.cview());
  std::vector<double> weights;
  for (index_t i = 0; i < n; ++i) weights.push_back(static_cast<double>(1 + i % 3));
  const PerRowArray<double> weigh(ctx, Space::device, weights);
  Matrix<double> first(1, d);
  rows.load(0, first.data());
  std::vector<double> totals(static_cast<std::size_t>((n + chunk_rows - 1) / chunk_rows));
  const auto start = [&] {
    PerRowArray<float> squared(ctx, Space::device, std::vector<float>(static_cast<std::size_t>(n), 1e30F));
    lower_potential<float>(ctx, {rows, {moments, 0.25}, first.cview(), squared.view(), weigh.view(), totals});
    return squared;
  };
  const Choosing how{trials, 500, 0, numbers_of_rows, 1000 * trials};
  PerRowArray<float> squared = start(), again = start();
  const double before = std::accumulate(totals.begin(), totals.end(), 0.0);
  const ChosenRows chosen = choose(ctx, rows, moments, squared.view(), weigh.view(), how),
                   same = choose(ctx, rows, moments, again.view(), weigh.view(), how);
  CHECK(chosen.rows == same.rows);
  CHECK(chosen.left == same.left);
  REQUIRE(chosen.rows.size() == 500);
  const std::vector<float> lowered = squared.to_host();
  CHECK(lowered == again.to_host());
  for (const index_t row : chosen.rows) CHECK(lowered[static_cast<std::size_t>(row)] == 0);
  // What lower_potential() makes of the same centres.
  PerRowArray<float> expected = start();
  Matrix<double> centers(500, d);
  gather_rows(ctx, rows, chosen.rows, centers.view());
  lower_potential<float>(ctx, {rows, {moments, 0.25}, centers.cview(), expected.view(), weigh.view(), totals});
  const double left = std::accumulate(totals.begin(), totals.end(), 0.0);
  CHECK(chosen.left == Approx(left).epsilon(test::allowed::six_digits));
  CHECK(left < before);
  const std::vector<float> one_by_one = expected.to_host();
  index_t apart = 0;
  for (std::size_t i = 0; i < one_by_one.size(); ++i)
    apart += std::abs(one_by_one[i] - lowered[i]) > static_cast<float>(test::allowed::single) * one_by_one[i];
  CHECK(apart == 0);
}

TEST_CASE("on a device, choices by batches are those of a processor", "[assign][gpu][seeding]") {
  /// So few at once that their pairs find room, and the same on a processor.
  const auto at_once = [](index_t centers) { return std::clamp<index_t>(4 * centers, 48, 700); };
  struct OfHost final : assign_detail::HostChoices<float> {
    using HostChoices<float>::HostChoices;
    std::function<index_t(index_t)> at_once;
    [[nodiscard]] index_t most_draws(index_t centers) const noexcept override { return at_once(centers); }
  };
  struct OfDevice final : assign_detail::BatchedChoices {
    assign_device::DeviceChoices& there;
    std::function<index_t(index_t)> at_once;
    OfDevice(assign_device::DeviceChoices& choices, std::function<index_t(index_t)> draws)
        : there(choices), at_once(std::move(draws)) {}
    [[nodiscard]] assign_detail::Turns take_turns(const assign_detail::DrawsAhead& draws) override {
      return there.take_turns(draws);
    }
    [[nodiscard]] index_t most_draws(index_t centers) const noexcept override { return at_once(centers); }
  };
  using Shape = std::tuple<index_t, index_t, index_t>;
  const auto [n, d, trials] = GENERATE(Shape{9000, 40, 6}, Shape{20001, 12, 1}, Shape{300, 8, 16});
  const bool weighted = GENERATE(false, true);
  Context ctx, here;
  ctx.stream = test::device_stream();
  auto plans = cuda::nearer_plans(n, d, ctx.stream.device());
  if (!plans) return;
  auto x = Matrix<float>::zeros(n, d);
  for (index_t i = 0; i < n; ++i)  // whole numbers, so that every order of addition gives the same sums
    for (index_t j = 0; j < d; ++j)
      x(i, j) = static_cast<float>(std::floor(9 * numbers_of_rows.uniform(static_cast<std::uint64_t>(i * d + j))));
  ColumnMoments moments = column_moments(here, Rows(x.cview()));
  std::fill(moments.shift.begin(), moments.shift.end(), 0.0);
  const SeedingUnit unit{moments, 1};
  std::vector<double> weights;
  for (index_t i = 0; weighted && i < n; ++i) weights.push_back(0.3 * static_cast<double>(i % 4));
  std::vector<float> squared;
  for (index_t i = 0; i < n; ++i) squared.push_back(static_cast<float>(distance(x, i, 0)));
  const auto there = test::copy_there(ctx, x);
  PerRowArray<float> squared_there(ctx, Space::device, squared);
  const PerRowArray<double> weights_there(ctx, Space::device, weights);
  assign_device::DeviceChoices choices(ctx, *std::move(plans), there.data(), d, d, squared_there.view(),
                                       weights_there.view());
  OfDevice of_device(choices, at_once);
  const Rows rows(x.cview());
  OfHost of_host(here, rows, unit, squared, weights);
  of_host.at_once = at_once;
  for (const double enough : {1e4 * static_cast<double>(d), 0.0}) {
    const Choosing how{trials, std::min<index_t>(n, 1000), enough, numbers_of_rows, 40};
    const ChosenRows chosen = assign_detail::choose_rows(of_device, how), expected = choose_rows(of_host, how);
    CHECK((chosen.rows.size() > 200 || enough > 0));
    index_t apart = std::abs(std::ssize(chosen.rows) - std::ssize(expected.rows));
    for (std::size_t q = 0; q < std::min(chosen.rows.size(), expected.rows.size()); ++q)
      apart += chosen.rows[q] != expected.rows[q];
    CHECK(apart == 0);
    CHECK(chosen.left == expected.left);
  }
  const std::vector<float> lowered = squared_there.to_host();
  CHECK(std::equal(lowered.begin(), lowered.end(), squared.begin(), squared.end()));
}
