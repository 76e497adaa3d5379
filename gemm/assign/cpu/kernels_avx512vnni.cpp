#define TS_ISA avx512vnni
#include "tallskinny/gemm/assign/cpu/kernels.ipp"
