#define TS_ISA amx
#define TS_TILES
#include "tallskinny/gemm/assign/cpu/kernels.ipp"
