#include <string_view>

#include "tallskinny/gemm/cpu/kernels.hpp"
#include "tallskinny/gemm/runtime/instructions.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"

namespace ts::inline v0::assign_cpu {

#if defined(TS_X86_KERNELS)
namespace {

AssignKernels with(const char* name, const IntegerKernels& int16, const ByteKernels& bytes) {
  AssignKernels all = avx512::kernels;
  all.name = name, all.int16 = int16, all.pruning = bytes.pruning;
  return all;
}

}  // namespace
#endif

const AssignKernels& select(Simd simd) {
  [[maybe_unused]] const std::string_view instructions = cpu::kernels(simd).name;  // or throws
#if defined(TS_X86_KERNELS)
  if (instructions == "avx512") {
    if (__builtin_cpu_supports("avx512vnni") == 0) return avx512::kernels;
    const IntegerKernels& int16 = avx512vnni::bytes.int16;
#if defined(TS_AMX_KERNELS)
    static const AssignKernels with_amx = with("amx", int16, amx::bytes);
    if ((simd == Simd::amx || (simd == Simd::best && most_simd() == Simd::amx)) && has_tiles()) return with_amx;
#endif
    static const AssignKernels with_vnni = with("avx512vnni", int16, avx512vnni::bytes);
    return with_vnni;
  }
  if (instructions == "avx2") return avx2::kernels;
#endif
  return base::kernels;
}

}  // namespace ts::inline v0::assign_cpu
