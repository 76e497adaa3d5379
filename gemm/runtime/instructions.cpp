#include "tallskinny/gemm/runtime/instructions.hpp"

#include <cstdlib>

#include "tallskinny/gemm/core/error.hpp"
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ts::inline v0 {

namespace {

Simd simd_of_environment() {
  const char* const text = std::getenv("TALLSKINNY_SIMD");
  const std::string_view word = text == nullptr ? "" : text;
  if (word.empty() || word == "amx") return Simd::amx;
  if (word == "avx512") return Simd::avx512;
  if (word == "avx2") return Simd::avx2;
  if (word == "sse2") return Simd::sse2;
  throw Error(Errc::invalid_argument,
              "TALLSKINNY_SIMD is '" + std::string(word) + "': set it to sse2, avx2, avx512 or amx, or unset it");
}

#if defined(__x86_64__) && defined(__linux__)
/// Tiles have registers that a process must ask for, since they make what Linux saves of a thread 8 KiB larger.
bool ask_for_tiles() noexcept {
  constexpr unsigned save_states = 1U << 27, tiles = 1U << 24, of_bytes = 1U << 25;
  constexpr unsigned tile_states = 3U << 17;
  constexpr int request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & save_states) == 0) return false;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & tiles) == 0 || (edx & of_bytes) == 0) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & tile_states) == tile_states && syscall(SYS_arch_prctl, request, tile_data) == 0;
}
#else
bool ask_for_tiles() noexcept { return false; }
#endif

}  // namespace

Simd most_simd() {
  static const Simd most = simd_of_environment();
  return most;
}

bool has_tiles() noexcept {
  static const bool has = ask_for_tiles();
  return has;
}

}  // namespace ts::inline v0
