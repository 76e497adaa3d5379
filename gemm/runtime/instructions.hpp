// Vector instructions: what a user allows, and what needs more than the processor.
#pragma once

#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

/// What Simd::best may take at most: TALLSKINNY_SIMD (sse2, avx2, avx512 or amx), or all that there is.
/// @throws Error(invalid_argument) for another word.
[[nodiscard]] Simd most_simd();

/// Whether there are AMX tiles of 8-bit integers beside AVX-512 VNNI, and Linux lets this process use them, for which
/// the first call asks.
[[nodiscard]] bool has_tiles() noexcept;

}  // namespace ts::inline v0
