#define TS_ISA avx512vnni
#define TS_FLOATS_OF avx512
#include "tallskinny/gemm/assign/cpu/kernels.ipp"
