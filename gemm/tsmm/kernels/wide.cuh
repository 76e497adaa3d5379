// What the two kernels of a wide X times a small S have in common.
#pragma once

#include "tallskinny/gemm/tsmm/kernels/factor.cuh"
#include "tallskinny/gemm/tsmm/kernels/small_factor.cuh"
#include "tallskinny/gemm/tsmm/kernels/warp_columns.cuh"

#if TS_NARROW_S
using WideFactor = SmallFactor<Element>;
#else
using WideFactor = SmallFactor<Result>;
#endif
