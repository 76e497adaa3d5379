#define TS_ISA amx
#include "tallskinny/gemm/assign/cpu/kernels.ipp"
