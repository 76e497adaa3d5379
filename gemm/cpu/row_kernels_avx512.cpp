#include "tallskinny/gemm/cpu/vec_avx512.hpp"
// The vectors come first.
#include "tallskinny/gemm/cpu/row_table.hpp"

namespace ts::inline v0::cpu::avx512 {

extern constinit const RowKernels row_table = make_row_table();

}  // namespace ts::inline v0::cpu::avx512
