// Seeding on a device: greedy k-means++ with many candidates at a time.
#include "tallskinny/solvers/kmeans/seeding/launch.hpp"

#include "tallskinny/solvers/kmeans/pass/rows/per_row.hpp"
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

/// A batch of draws, compared with all distances.
void check_search(index_t n, index_t d, index_t count, float spread, bool warpgroups = true) {
  constexpr index_t centers = 30;
  INFO("n " << n << " d " << d << " candidates " << count << " spread " << spread);
  Context ctx = test::device_context();
  const Matrix<float> x = rows_about_centers(n, d, spread);
  const auto there = test::copy_there(ctx, x);
  const Rows rows(ctx.stream, there.cview());
  const ColumnMoments moments = column_moments(ctx, Rows(x.cview()));
  std::vector<double> squared(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    double least = distance(x, i, 0);
    for (index_t c = 1; c < centers; ++c) least = std::min(least, distance(x, i, c * n / centers));
    squared[static_cast<std::size_t>(i)] = least;
  }
  PerRowArray<double> squared_there(ctx, Space::device, squared);
  assign_device::DeviceChoices choices(ctx, rows, moments, squared_there.view(), {}, warpgroups);
  // Nothing is chosen, since more than enough is never left.
  const assign_detail::ChoiceRounds rounds = choices.run_rounds({count, 1, 1, 1e300, numbers_of_rows, 0});
  REQUIRE((rounds.found && rounds.rows.empty()));
  const cuda::SeedBatchArguments& batch = choices.batch();
  const auto fetched = [&]<class T>(const T* from, index_t size) {
    std::vector<T> values(static_cast<std::size_t>(size));
    cuda::copy_bytes(ctx.stream, values.data(), from, values.size() * sizeof(T));
    ctx.stream.synchronize();
    return values;
  };
  const auto total = static_cast<index_t>(fetched(batch.total, 1)[0]);
  REQUIRE(total <= batch.most_pairs);
  const std::vector<index_t> candidates = fetched(batch.numbers, count);
  const std::vector<cuda::SeedStretch> stretches = fetched(batch.stretches, count);
  const std::vector<cuda::SeedPair> pairs = fetched(batch.pairs, total);
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
      wrong += near.candidate != q || std::abs(near.squared - exact) > open * exact;
    }
    for (index_t i = 0; i < n; ++i) {
      const bool nearer = distance(x, i, candidate) < squared[static_cast<std::size_t>(i)] * (1 - open);
      needed += nearer;
      missed += nearer && !listed[static_cast<std::size_t>(i)];
    }
  }
  CHECK(missed == 0);
  CHECK(wrong == 0);
  CHECK(out_of_order == 0);
  CHECK(needed > 0);
  CHECK(total <= 4 * needed + n);  // bounds leave few others
}

}  // namespace

TEST_CASE("on a device, all rows are found that a candidate is nearer to", "[assign][gpu][seeding]") {
  const bool warpgroups = GENERATE(true, false);
  check_search(5000, 128, 300, 1, warpgroups);
  check_search(1000, 97, 1, 1, warpgroups);
  check_search(3001, 768, 129, 0.25F, warpgroups);
  check_search(700, 1400, 64, 1, warpgroups);
  check_search(4096, 3, 256, 1, warpgroups);
}

TEMPLATE_TEST_CASE("on a device, choices are those of a processor", "[assign][gpu][seeding]", float, double) {
  using Shape = std::tuple<index_t, index_t, index_t>;
  const auto [n, d, trials] =
      GENERATE(Shape{9000, 40, 6}, Shape{20001, 12, 1}, Shape{300, 8, 16}, Shape{70000, 300, 9}, Shape{1, 1, 3});
  const bool weighted = GENERATE(false, true);
  INFO("n " << n << " d " << d << " trials " << trials << " weighted " << weighted);
  /// So few at once that their pairs find room, and the same on a processor.
  struct OfHost final : assign_detail::HostChoices {
    using HostChoices::HostChoices;
    std::pair<index_t, index_t> (*of_device)(index_t) = nullptr;
    [[nodiscard]] std::pair<index_t, index_t> best_draws(index_t centers) const noexcept override {
      return of_device(centers);
    }
  };
  struct OfDevice final : assign_detail::BatchedChoices {
    assign_device::DeviceChoices& there;
    std::pair<index_t, index_t> (*draws)(index_t);
    OfDevice(assign_device::DeviceChoices& choices, std::pair<index_t, index_t> (*of)(index_t))
        : there(choices), draws(of) {}
    [[nodiscard]] assign_detail::ChoiceRounds run_rounds(const assign_detail::DrawsAhead& ahead) override {
      return there.run_rounds(ahead);
    }
    [[nodiscard]] std::pair<index_t, index_t> best_draws(index_t centers) const noexcept override {
      return draws(centers);
    }
  };
  const auto at_once = [](index_t centers) {
    return std::pair<index_t, index_t>{20, std::clamp<index_t>(4 * centers, 40, 700)};
  };
  Context ctx, here;
  ctx.stream = test::device_stream();
  Matrix<TestType> x(n, d);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j)
      x(i, j) = static_cast<TestType>(numbers_of_rows.uniform(static_cast<std::uint64_t>((i % 9001) * d + j)));
  const ColumnMoments moments = column_moments(here, Rows(x.cview()));
  std::vector<double> weights;
  for (index_t i = 0; weighted && i < n; ++i) weights.push_back(0.3 * static_cast<double>(1 + i % 4));
  const Rows rows(x.cview());
  std::vector<double> squared(static_cast<std::size_t>(n), 1e30),
      totals(static_cast<std::size_t>((n + chunk_rows - 1) / chunk_rows));
  Matrix<double> first(1, d);
  rows.load(0, first.data());
  lower_potential(here, {rows, moments, first.cview(), squared, weights, totals});
  const auto there = test::copy_there(ctx, x);
  PerRowArray<double> squared_there(ctx, Space::device, squared);
  const PerRowArray<double> weights_there(ctx, Space::device, weights);
  const Rows rows_there(ctx.stream, there.cview());
  assign_device::DeviceChoices choices(ctx, rows_there, moments, squared_there.view(), weights_there.view());
  OfDevice of_device(choices, at_once);
  OfHost of_host(here, rows, moments, squared, weights);
  of_host.of_device = at_once;
  for (const double enough : {0.3 * totals[0], 0.0}) {
    const Choosing how{trials, std::min<index_t>(n, 1000), enough, numbers_of_rows, 40};
    const SeedRows chosen = assign_detail::choose_rows(of_device, how), expected = choose_rows(of_host, how);
    CHECK((chosen.rows.size() > 200 || enough > 0 || n < 1000));
    CHECK(chosen.rows == expected.rows);
    CHECK(chosen.left == expected.left);
  }
  CHECK(squared_there.to_host() == squared);
}

TEST_CASE("on a device, choices lower squared distances, repeat, and end when nothing is left",
          "[assign][gpu][seeding]") {
  constexpr index_t n = 20000, d = 300, trials = 6;
  Context ctx = test::device_context();
  const Matrix<float> x = rows_about_centers(n, d, 1);
  const ColumnMoments moments = column_moments(ctx, Rows(x.cview()));
  const auto there = test::copy_there(ctx, x);
  const Rows rows(ctx.stream, there.cview());
  Matrix<double> first(1, d);
  rows.load(0, first.data());
  std::vector<double> totals(static_cast<std::size_t>((n + chunk_rows - 1) / chunk_rows));
  const auto start = [&] {
    PerRowArray<double> squared(ctx, Space::device, std::vector<double>(static_cast<std::size_t>(n), 1e30));
    lower_potential(ctx, {rows, moments, first.cview(), squared.view(), {}, totals});
    return squared;
  };
  PerRowArray<double> squared = start(), again = start();
  const Choosing how{trials, 500, 0, numbers_of_rows, trials};
  const SeedRows chosen = choose_rows(ctx, rows, moments, squared.view(), {}, how),
                 same = choose_rows(ctx, rows, moments, again.view(), {}, how);
  CHECK(chosen.rows == same.rows);
  CHECK(chosen.left == same.left);
  REQUIRE(chosen.rows.size() == 500);
  const std::vector<double> lowered = squared.to_host();
  CHECK(lowered == again.to_host());
  PerRowArray<double> expected = start();
  lower_potential(ctx, {rows, moments, {}, expected.view(), {}, totals, {}, 0, chosen.rows});
  CHECK(lowered == expected.to_host());
  CHECK(chosen.left == Approx(std::accumulate(totals.begin(), totals.end(), 0.0)).epsilon(test::allowed::six_digits));

  // A few rows so far away that float16 does not tell the others apart: there is no room for their pairs at once.
  Matrix<float> far = Matrix<float>::copy_of(x.cview());
  far(17, 3) = 1e6F;
  const auto far_there = test::copy_there(ctx, far);
  const Rows far_rows(ctx.stream, far_there.cview());
  const ColumnMoments of_far = column_moments(ctx, Rows(far.cview()));
  PerRowArray<double> of_each(ctx, Space::device, std::vector<double>(static_cast<std::size_t>(n), 1e30));
  lower_potential(ctx, {far_rows, of_far, first.cview(), of_each.view(), {}, totals});
  const SeedRows some =
      choose_rows(ctx, far_rows, of_far, of_each.view(), {}, {trials, 40, 0, numbers_of_rows, trials});
  REQUIRE(some.rows.size() == 40);
  CHECK(some.rows[0] == 17);
  const std::set<index_t> distinct(some.rows.begin(), some.rows.end());
  CHECK(distinct.size() == 40);
}
