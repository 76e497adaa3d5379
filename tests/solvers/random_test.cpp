#include "tallskinny/solvers/random.hpp"
#include "tallskinny/gemm/comm/slab_collector.hpp"
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/svd/svd.hpp"
#include "tallskinny/tests/support/test.hpp"

using ts::philox4x32_10;
using ts::solvers::Random;
using namespace ts::solvers;

using Block = std::array<std::uint32_t, 4>;
__extension__ using Wide = unsigned __int128;

TEST_CASE("Philox4x32-10 gives the published known answers", "[random]") {
  // The vectors that Random123 publishes (counter, key -> output): zeros, ones, digits of pi.
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t f = 0xffffffff;
  CHECK(philox4x32_10({f, f, f, f}, {f, f}) == Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("counter, stream and seed each change the numbers, in their upper halves too", "[random]") {
  std::set<std::uint64_t> seen;
  constexpr std::uint64_t high = std::uint64_t{1} << 32;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, high})
    for (const std::uint64_t stream : {std::uint64_t{0}, std::uint64_t{1}, high})
      for (const std::uint64_t counter : {std::uint64_t{0}, std::uint64_t{1}, high})
        seen.insert(Random(seed, stream).bits(counter));
  CHECK(seen.size() == 27);
  static_assert(Random(7, 3).bits(11) == Random(7, 3).bits(11));
}

TEST_CASE("uniforms have the moments of the unit interval and stay inside", "[random]") {
  const Random random(42);
  constexpr int n = 100000;
  double sum = 0, squares = 0, product = 0;
  bool inside = true;
  for (int i = 0; i < n; ++i) {
    const auto [u, v] = random.uniform2(static_cast<std::uint64_t>(i));
    inside = inside && u >= 0 && u < 1 && v >= 0 && v < 1 && u == random.uniform(static_cast<std::uint64_t>(i));
    sum += u, squares += u * u, product += (u - 0.5) * (v - 0.5);
  }
  CHECK(inside);
  const double five_sigma = 5 / std::sqrt(12.0 * n);
  CHECK(std::abs(sum / n - 0.5) < five_sigma);
  CHECK(std::abs(squares / n - 1.0 / 3) < five_sigma * 1.1);
  CHECK(std::abs(product / n) < 5 / (12 * std::sqrt(1.0 * n)));
}

TEST_CASE("normals have mean 0, variance 1 and kurtosis 3", "[random]") {
  const Random random(1, 5);
  constexpr int n = 100000;
  double m1 = 0, m2 = 0, m4 = 0, cross = 0;
  for (int i = 0; i < n; ++i) {
    const auto [x, y] = random.normal2(static_cast<std::uint64_t>(i));
    m1 += x, m2 += x * x, m4 += x * x * x * x, cross += x * y;
  }
  const double root = std::sqrt(1.0 * n);
  CHECK(std::abs(m1 / n) < 5 / root);
  CHECK(std::abs(m2 / n - 1) < 5 * std::sqrt(2.0) / root);
  CHECK(std::abs(m4 / n - 3) < 5 * std::sqrt(96.0) / root);
  CHECK(std::abs(cross / n) < 5 / root);
}

TEST_CASE("near-normals have mean 0, variance 1, kurtosis 2.7, no bias to a side and no zero", "[random]") {
  const ts::Philox random{1, 5};
  constexpr int n = 100000;
  double m1 = 0, m2 = 0, m4 = 0, neighbours = 0, before = 0;
  int around_zero = 0;
  bool inside = true;
  for (int i = 0; i < n; ++i) {
    const double x = ts::near_normal(random, static_cast<std::uint64_t>(i));
    m1 += x, m2 += x * x, m4 += x * x * x * x, neighbours += x * before, before = x;
    around_zero += std::abs(x) < 0.1 ? 1 : 0;
    inside = inside && x != 0 && std::abs(x) < 2 * std::sqrt(3.0);
  }
  CHECK(inside);
  const double root = std::sqrt(1.0 * n);
  CHECK(std::abs(m1 / n) < 5 / root);
  CHECK(std::abs(m2 / n - 1) < 5 * std::sqrt(1.7) / root);
  CHECK(std::abs(m4 / n - 2.7) < 5 * std::sqrt(60.0) / root);
  CHECK(std::abs(neighbours / n) < 5 / root);
  CHECK(std::abs(around_zero / (0.2 * n) - 0.385) < 5 * std::sqrt(0.385 / 0.2) / root);  // the density at 0
  // Published words of Philox: the sum of four, centred and scaled.
  const double sum = 0x6627e8d5p0 + 0xe169c58dp0 + 0xbc57ac4cp0 + 0x9b00dbd8p0;
  const double exact = (2 * sum - 0x1p34 + 5) * std::sqrt(3.0) * 0x1p-33;
  CHECK(std::abs(ts::near_normal({}, 0) - exact) < ts::test::allowed::last_place);
}

TEST_CASE("below(n) stays below n and reaches every value", "[random]") {
  const Random random(3);
  std::array<int, 7> hits{};
  for (std::uint64_t i = 0; i < 7000; ++i) ++hits.at(random.below(7, i));
  for (const int h : hits) CHECK(std::abs(h - 1000) < 5 * 30);
  CHECK(random.below(1, 9) == 0);
  const std::uint64_t n = (std::uint64_t{1} << 63) + 12345;
  const auto expected = static_cast<std::uint64_t>((static_cast<Wide>(random.bits(4)) * n) >> 64);
  CHECK(random.below(n, 4) == expected);
}

TEST_CASE("general eigenvalues and singular values on several ranks are refused") {
  const auto a = Matrix<double>::zeros(20, 20);
  const Operator<double> zero = DenseOperator<double>(a.cview());
  Context ctx;
  ctx.communicator = std::make_shared<SlabCollector>(2);
  const auto refused = [&](const char* solver, auto&& call) {
    const std::string said = message_of(call);
    CAPTURE(solver, said);
    CHECK(said.find(std::string(solver) + " works on one rank") == 0);
    CHECK(mentions(said, "has 2"));
  };
  refused("solve_general", [&] { (void)solve_general<double>(ctx, {zero}, {}); });
  refused("solve_svd", [&] { (void)solve_svd<double>(ctx, {rectangular(a.cview())}, {}); });
}
