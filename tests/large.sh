#!/usr/bin/env bash
# The test cases that are hidden from all other runs, for what they take: 5 GiB of memory, minutes.
# Run as: bash large.sh [BUILD]
set -euo pipefail
tests=${1:-$(dirname "$0")/../build}/tests
"$tests/gemm/test_gemm_operations" '[.large]'
"$tests/solvers/test_solvers_eigen" '[.full]'
"$tests/gemm/test_gemm_cuda_compile" '[.full]'
