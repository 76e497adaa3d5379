#include "tallskinny/gemm/cpu/vec_avx512.hpp"
// The vectors come first.
#include "tallskinny/gemm/cpu/table.hpp"

namespace ts::inline v0::cpu::avx512 {

extern constinit const Kernels table = make_table("avx512");

}  // namespace ts::inline v0::cpu::avx512
