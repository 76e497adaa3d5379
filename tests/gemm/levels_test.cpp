// Which code runs is asked for, not guessed: every implementation and vector level leaves its own rounding.
#include "tallskinny/gemm/cpu/row_kernels.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// The bits of some Gram matrices: the order of additions follows the lanes of the vectors.
std::vector<double> rounding_of(const Context& ctx) {
  std::vector<double> results;
  Values values(1);
  for (const index_t w : {1, 2, 3})
    for (const index_t n : {517, 1003, 20011}) {
      auto a = Operand<double>::random(n, w, {}, values);
      Operand<double> c(w, w);
      with_views([&](auto va, auto vc) { gram(ctx, Op::transpose, 1.0, va, 0.0, vc); }, a, c);
      for (index_t j = 0; j < w; ++j) results.push_back(c.at(0, j));
    }
  return results;
}

}  // namespace

TEST_CASE("every vector level runs its own kernels", "[short]") {
  const auto levels = simd_levels();
  for (std::size_t i = 0; i < levels.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(name_of(levels[i]), name_of(levels[j]));
      CHECK(rounding_of(fast_context(levels[i])) != rounding_of(fast_context(levels[j])));
      CHECK(&cpu::kernels(levels[i]) != &cpu::kernels(levels[j]));
      CHECK(&cpu::row_kernels(levels[i]) != &cpu::row_kernels(levels[j]));
    }
}

TEST_CASE("the best level is the widest one this processor has, and the fast path is the default", "[short]") {
  CHECK(&cpu::kernels(Simd::best) == &cpu::kernels(this_cpu().simd));
  CHECK(&cpu::row_kernels(Simd::best) == &cpu::row_kernels(this_cpu().simd));
  CHECK(rounding_of(Context{}) == rounding_of(fast_context(this_cpu().simd)));
  CHECK(rounding_of(Context{}) != rounding_of(reference_context()));
}

TEST_CASE("a level that this processor lacks is refused", "[short]") {
  for (const Simd level : {Simd::avx2, Simd::avx512}) {
    if (level <= this_cpu().simd) continue;
    CHECK_THROWS_AS(rounding_of(fast_context(level)), Error);
  }
  SUCCEED("this processor may have them all");
}
