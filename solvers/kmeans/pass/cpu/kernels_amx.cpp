#define TS_ISA amx
#define TS_TILES
#define TS_FLOATS_OF avx512
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.ipp"
