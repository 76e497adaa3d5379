#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/random/plan.hpp"
#include "tallskinny/gemm/random/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/device.hpp"

// The device's own generator, compiled for the host.
#define __device__
#define __forceinline__ inline
namespace on_device {
#include "tallskinny/gemm/device/philox.cuh"
}

namespace {

constexpr Philox generator{0x123456789abcdefu, 0xfedcba9876543210u};

/// The element at row i and column j of a filled block.
double expected(index_t i, index_t j) {
  return near_normal(generator, static_cast<std::uint64_t>(i) << 16 | static_cast<std::uint64_t>(j));
}

template <class R>
Matrix<std::complex<R>> complex_block() {
  return matrix_of<std::complex<R>>(1000, 3, [](index_t i, index_t j) {
    return std::complex<R>(std::complex<double>(expected(i, 2 * j), expected(i, 2 * j + 1)));
  });
}

}  // namespace

TEST_CASE("the device's generator has the host's bits") {
  bool same = true;
  for (std::uint64_t k = 0; k < 20000; ++k) {
    const std::uint64_t counter = k * 0x9E3779B97F4A7C15u;
    const auto words = on_device::philox(counter, generator.stream, generator.key);
    const auto block = generator.block(counter);
    for (std::size_t w = 0; w < 4; ++w) same = same && words.word[w] == block.at(w);
    same = same && on_device::uniform(words) == generator.uniform(counter);
    same = same && on_device::near_normal(words) == near_normal(generator, counter);
  }
  CHECK(same);
}

TEST_CASE("a block holds the numbers of its rows and columns, for any number of threads") {
  for (const int threads : {1, 3}) {
    Context ctx{.threads = threads};
    auto x = Matrix<double>::zeros(1000, 9);
    fill_random<double>(ctx, generator, x.view().cols(1, 5));
    auto z = Matrix<std::complex<double>>::zeros(1000, 3);
    fill_random<std::complex<double>>(ctx, generator, z.view());
    CHECK(test::same(
        x, matrix_of<double>(1000, 9, [](index_t i, index_t j) { return j == 0 || j > 5 ? 0 : expected(i, j - 1); })));
    CHECK(test::same(z, complex_block<double>()));
  }
}

TEST_CASE("a block in float32 holds the numbers of float64, rounded") {
  Matrix<float> x(1000, 5);
  fill_random<float>(Context{}, generator, x.view());
  Matrix<std::complex<float>> z(1000, 3);
  fill_random<std::complex<float>>(Context{}, generator, z.view());
  CHECK(test::same(x,
                   matrix_of<float>(1000, 5, [](index_t i, index_t j) { return static_cast<float>(expected(i, j)); })));
  CHECK(test::same(z, complex_block<float>()));
}

TEMPLATE_TEST_CASE("on a GPU a block has the bits of the host", "[device][sanitize][gpu]", double, std::complex<double>,
                   float, std::complex<float>) {
  using T = TestType;
  Context ctx{.stream = test::device_stream()};
  for (const index_t rows : {index_t{1}, index_t{257}, index_t{100003}})
    for (const index_t cols : {1, 2, 5, 8, 33})
      for (const index_t gap : {0, 1, 8}) {
        CAPTURE(rows, cols, gap);
        auto here = Matrix<T>::zeros(rows, cols + gap);
        auto there = copy_there(ctx, here);
        fill_random<T>(ctx, generator, there.view().cols(gap / 2, cols));
        fill_random<T>(ctx, generator, here.view().cols(gap / 2, cols));
        CHECK(test::same(here, copy_here(ctx.stream, there)));
      }
}

// Launches that fill with random numbers, by hand.

TEST_CASE("a thread fills the widest piece that lines and their alignment allow") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  const auto few = cuda::plan_random_fill(DType::float32, {}, 1000, 6, device);
  const auto policy = cuda::policy_of<cuda::RandomFillPolicy>(few);
  CHECK(policy.vector == 2);  // 4 would not divide lines of 6
  CHECK(policy.alignment == 8);
  CHECK(few.grid == 12);  // 3000 pieces of 256 threads
  const auto odd = cuda::plan_random_fill(DType::float32, {Layout::row_major, false, 4, 1}, 1000, 8, device);
  CHECK(cuda::policy_of<cuda::RandomFillPolicy>(odd).vector == 1);
  CHECK(cuda::plan_random_fill(DType::float32, {}, 1'000'000'000, 6, device).grid == 8 * 132);
}
