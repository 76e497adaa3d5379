#define TS_ISA avx2
#include "tallskinny/gemm/assign/cpu/kernels.ipp"
