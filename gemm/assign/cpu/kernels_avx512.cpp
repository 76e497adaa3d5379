#define TS_ISA avx512
#include "tallskinny/gemm/assign/cpu/kernels.ipp"
