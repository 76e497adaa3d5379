#!/usr/bin/env bash
# The shape of the tree: how long files, READMEs and lines may be, what a kernel may ask the preprocessor, and that no
# type's name stands for two things. Run as: bash shape.sh ROOT
set -euo pipefail
cd "$1"

texts() { find app gemm io solvers tests docs cmake data .ci -type f "$@" ! -path '*/bench/results/*' ! -path '*/fixtures/*'; }
sources() { texts \( -name '*.hpp' -o -name '*.cpp' -o -name '*.ipp' -o -name '*.cuh' -o -name '*.py' -o -name '*.sh' \); }
kernels() { find gemm app -name '*.cuh' -o -name '*policy.hpp' -path 'gemm/*'; }

failures=0
report() { # title, lines
  [ -n "$2" ] || return 0
  printf '%s\n%s\n\n' "$1" "$2"
  failures=1
}

report 'lines beyond 120 columns (file: line)' "$({ texts \( -name '*.hpp' -o -name '*.cpp' -o -name '*.ipp' -o -name '*.cuh' \
  -o -name '*.py' -o -name '*.sh' -o -name '*.md' -o -name '*.cmake' -o -name '*.txt' -o -name run \); ls ./*.md CMakeLists.txt; } |
  LC_ALL=C.UTF-8 xargs awk 'length > 120 {print FILENAME ": " FNR}')"
report 'files beyond 350 lines' "$(sources | xargs wc -l | awk '$2 != "total" && $1 > 350 {print $2 ": " $1}')"
report 'READMEs beyond 150 lines' "$({ texts -name 'README.md'; echo README.md; } | xargs wc -l |
  awk '$2 != "total" && $1 > 150 {print $2 ": " $1}')"
report 'macros in kernels that are no architecture' "$(kernels | xargs grep -nE '\bTS_[A-Z]|^ *# *(define|undef)|^ *# *(if|elif|ifdef|ifndef)\b' |
  grep -vE '__CUDA_ARCH__|__CUDACC_RTC__' || true)"
# Types at the outer level of rooms: a name may stand in one room of gemm/, solvers/ or io/.
report 'types of one name in two rooms' "$(find gemm solvers io -name '*.hpp' | xargs grep -HoE \
  '^(struct|class|enum class) [A-Z][A-Za-z0-9]* *(final)? *[{:]' | sed -E 's#^(([^/]+/){1,2})[^:]*:(struct|class|enum class) ([A-Za-z0-9]+).*#\4 \1#' |
  sort -u | awk '{n[$1]++; where[$1] = where[$1] " " $2} END {for (t in n) if (n[t] > 1) print t ":" where[t]}')"
exit $failures
