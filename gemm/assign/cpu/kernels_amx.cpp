#define TS_ISA amx
#define TS_TILES
#define TS_FLOATS_OF avx512
#include "tallskinny/gemm/assign/cpu/kernels.ipp"
