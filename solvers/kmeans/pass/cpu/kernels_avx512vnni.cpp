#define TS_ISA avx512vnni
#define TS_FLOATS_OF avx512
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.ipp"
