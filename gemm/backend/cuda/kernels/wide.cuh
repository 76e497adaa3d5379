// What the two kernels of a wide X times a small S have in common.
#pragma once

#include "factor.cuh"
#include "small_factor.cuh"
#include "warp_columns.cuh"

#if TS_NARROW_S
using WideFactor = SmallFactor<Element>;
#else
using WideFactor = SmallFactor<Result>;
#endif
