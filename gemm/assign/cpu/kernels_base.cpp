#define TS_ISA base
#include "tallskinny/gemm/assign/cpu/kernels.ipp"
