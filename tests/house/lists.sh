#!/usr/bin/env bash
# What CONTRIBUTING.md says of lists: few files name an element type, and one names GPUs. Run as: bash lists.sh ROOT
set -euo pipefail
cd "$1"

failures=0
report() { # title, lines
  [ -n "$2" ] || return 0
  printf '%s\n%s\n\n' "$1" "$2"
  failures=1
}

# One type stands for all: those that kernels, files and measured tables tell apart name it, the others visit lists.
named=$(grep -ril bfloat16 app io gemm solvers)
if [ "$(wc -l <<<"$named")" -gt 15 ]; then report 'more than 15 files name an element type' "$named"; fi

# Comments may say what was measured where; device code asks __CUDA_ARCH__.
gpu='capability\(\) *[=<>!]|compute_m(aj|in)or *[=<>!]{2}|sm_[0-9]|(^|[^a-zA-Z0-9])[aAbBhH][12]00([^0-9]|$)'
report 'a GPU outside of the one table of GPUs (file: line)' \
  "$(find app io gemm solvers \( -name '*.?pp' -o -name '*.py' -o -name CMakeLists.txt \) \
    ! -path gemm/runtime/gpu/architectures.cpp -print0 |
    xargs -0 awk -v gpu="$gpu" '{code = $0; sub(/(\/\/|#  *[A-Z]).*/, "", code)}
      code ~ gpu {print FILENAME ": " FNR ": " $0}')"
exit $failures
