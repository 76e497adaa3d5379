// An entry of a cluster: a row that enters it, or one that leaves it.
#pragma once
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

constexpr uint32 leaves = 1u << 31;  // the mark; what is left is the row
