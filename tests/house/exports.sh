#!/usr/bin/env bash
# What the shared libraries in FOLDER export: namespace ts::v0 alone, without the internal namespaces HIDDEN, all with
# the symbol VERSION. Prints how many. Run as: bash exports.sh FOLDER VERSION HIDDEN...
set -euo pipefail
folder=$1 version=$2
shift 2

failures=0
kinds='^_Z(T[A-Z]|GV|Z|GVZ)?N[KRO]*' # functions; tables and names of types; statics of functions and their guards
refuse() { # library, what, symbols
  [ -n "$3" ] || return 0
  printf '%s %s:\n%s\n' "$1" "$2" "$(c++filt <<<"$3" | head -5)"
  failures=1
}
for library in "$folder"/libtallskinny_{gemm,solvers,io}.so; do
  symbols=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}')
  name=$(basename "$library")
  refuse "$name" "exports without the version $version" "$(grep -vF "@@$version" <<<"$symbols" || true)"
  refuse "$name" 'exports what is not of namespace ts::v0' \
    "$(grep -vE "${kinds}2ts2v0" <<<"$symbols" || true)"
  for hidden in "$@"; do # as in symbols: 3cpu
    refuse "$name" "exports the internal namespace $hidden" \
      "$(grep -E "${kinds}2ts2v0$hidden" <<<"$symbols" | grep -vE '^_ZN2ts2v03cpu(7|11row_)kernels' || true)"
  done
  echo "$name exports $(wc -l <<<"$symbols") symbols"
done
exit $failures
