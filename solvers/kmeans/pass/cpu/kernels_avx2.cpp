#define TS_ISA avx2
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.ipp"
