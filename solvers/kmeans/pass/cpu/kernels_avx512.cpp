#define TS_ISA avx512
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.ipp"
