#define TS_ISA base
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.ipp"
