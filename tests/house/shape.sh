#!/usr/bin/env bash
# The shape of the tree: how long files, READMEs and lines may be, what a kernel may ask the preprocessor, and that no
# type's name stands for two things. Tells what is beyond the bounds. Run as: bash shape.sh ROOT
set -euo pipefail
cd "$1"

code=(-name '*.hpp' -o -name '*.cpp' -o -name '*.ipp' -o -name '*.cuh' -o -name '*.py' -o -name '*.sh')
words=(-name '*.md' -o -name '*.cmake' -o -name '*.txt' -o -name run)
texts() {
  find app gemm io solvers tests docs cmake data .ci -type f \( "$@" \) \
    ! -path '*/bench/results/*' ! -path '*/fixtures/*'
}
kernels() { find gemm app -name '*.cuh' -o -name '*policy.hpp' -path 'gemm/*'; }

failures=0
report() { # title, lines
  [ -n "$2" ] || return 0
  printf '%s\n%s\n\n' "$1" "$2"
  failures=1
}

report 'lines beyond 120 columns (file: line)' \
  "$({ texts "${code[@]}" -o "${words[@]}"; ls ./*.md CMakeLists.txt; } |
    LC_ALL=C.UTF-8 xargs awk 'length > 120 {print FILENAME ": " FNR}')"
report 'files beyond 350 lines' "$(texts "${code[@]}" | xargs wc -l |
  awk '$2 != "total" && $1 > 350 {print $2 ": " $1}')"
report 'READMEs beyond 150 lines' "$({ texts -name 'README.md'; echo README.md; } | xargs wc -l |
  awk '$2 != "total" && $1 > 150 {print $2 ": " $1}')"
macro='\bTS_[A-Z]|^ *# *(define|undef)|^ *# *(if|elif|ifdef|ifndef)\b'
report 'macros in kernels that are neither an architecture nor a policy' "$(kernels | xargs grep -nE "$macro" |
  grep -vE '__CUDA_ARCH__|__CUDACC_RTC__|TS_POLICY' || true)"
# Types at the outer level of headers: a name may stand in one room of gemm/, solvers/ or io/.
type='(struct|class|enum class)'
report 'types of one name in two rooms' "$(find gemm solvers io -name '*.hpp' |
  xargs grep -HoE "^$type [A-Z][A-Za-z0-9]* *(final)? *[{:]" |
  sed -E "s#^(([^/]+/){1,2})[^:]*:$type ([A-Za-z0-9]+).*#\4 \1#" | sort -u |
  awk '{n[$1]++; where[$1] = where[$1] " " $2} END {for (t in n) if (n[t] > 1) print t ":" where[t]}')"
exit $failures
