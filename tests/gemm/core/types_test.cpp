#include "tallskinny/gemm/core/types.hpp"

#include <cmath>
#include <limits>

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

// float16(1.5f) would take the number for bits: only to_float16 and from_bits say what is meant.
template <class Half, class... From>
constexpr bool made_of_any = (std::is_constructible_v<Half, From> || ...);
static_assert(!made_of_any<float16, float, double, int, std::uint16_t, bfloat16>);
static_assert(!made_of_any<bfloat16, float, double, int, std::uint16_t, float16>);
static_assert(std::is_trivially_copyable_v<float16> && sizeof(float16) == 2);
static_assert(float16::from_bits(0x3e00) == to_float16(1.5f) && bfloat16::from_bits(0x3fc0) == to_bfloat16(1.5f));

TEST_CASE("every finite float16 survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto h = float16::from_bits(static_cast<std::uint16_t>(bits));
    const float f = to_float(h);
    if (std::isnan(f))
      CHECK(std::isnan(to_float(to_float16(f))));
    else if (to_float16(f) != h)
      FAIL("float16 bits " << bits << " became " << to_float16(f).bits);
  }
}

TEST_CASE("float16 rounds to nearest, ties to even, and overflows to infinity") {
  CHECK(to_float(to_float16(2049.0f)) == 2048.0f);
  CHECK(to_float(to_float16(2051.0f)) == 2052.0f);
  CHECK(to_float(to_float16(65519.0f)) == 65504.0f);
  CHECK(std::isinf(to_float(to_float16(65520.0f))));
  CHECK(to_float(to_float16(0x1p-24f)) == 0x1p-24f);
  CHECK(to_float(to_float16(0x1p-25f)) == 0.0f);
  CHECK(std::signbit(to_float(to_float16(-0.0f))));
}

TEST_CASE("bfloat16 is the rounded upper half of a float") {
  CHECK(to_float(to_bfloat16(1.0f)) == 1.0f);
  CHECK(to_float(to_bfloat16(1.00390625f)) == 1.0f);       // a tie, to even
  CHECK(to_float(to_bfloat16(1.01171875f)) == 1.015625f);  // a tie, to even
  CHECK(std::isnan(to_float(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isinf(to_float(to_bfloat16(std::numeric_limits<float>::max()))));
}
