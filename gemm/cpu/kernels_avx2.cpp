#include "tallskinny/gemm/cpu/vec_avx2.hpp"
// The vectors come first.
#include "tallskinny/gemm/cpu/table.hpp"

namespace ts::inline v0::cpu::avx2 {

extern constinit const Kernels table = make_table("avx2");

}  // namespace ts::inline v0::cpu::avx2
