#!/usr/bin/env bash
# Compares what LIBRARY exports and the SIZES of structs with the stored LIST. Run as: bash abi.sh LIBRARY SIZES LIST
set -euo pipefail
diff -u "$3" <(nm -D --defined-only "$1" | awk '{print $3}' | LC_ALL=C sort && "$2") || {
  echo "the ABI of the C API is another than $3 says: see solvers/capi/README.md"
  exit 1
}
