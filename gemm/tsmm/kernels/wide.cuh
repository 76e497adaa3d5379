// What the two kernels of a wide X times a small S have in common.
#pragma once

#include "tallskinny/gemm/tsmm/kernels/factor.cuh"
#include "tallskinny/gemm/tsmm/kernels/small_factor.cuh"
#include "tallskinny/gemm/tsmm/kernels/warp_columns.cuh"
#include "tallskinny/gemm/tsmm/wide_policy.hpp"

using WideFactor = SmallFactor<Choose<policy.narrow_s, Element, Result>::type>;
