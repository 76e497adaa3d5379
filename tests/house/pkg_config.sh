#!/usr/bin/env bash
# Compiles programs with what pkg-config tells of the installation in PREFIX, and runs them.
# Run as: bash pkg_config.sh PREFIX LIBDIR CXX CC CONSUMER EXAMPLES FOLDER
set -euo pipefail
prefix=$1 libdir=$2 cxx=$3 cc=$4 consumer=$5 examples=$6 folder=$7
command -v pkg-config >/dev/null || { echo "skipped: there is no pkg-config"; exit 77; }
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
mkdir -p "$folder"
# shellcheck disable=SC2046
$cxx -std=c++20 "$consumer/gemm.cpp" -o "$folder/gemm" $(pkg-config --cflags --libs tallskinny-gemm)
"$folder/gemm"
(cd "$folder" && # it writes a file
  $cxx -std=c++20 "$consumer/io.cpp" -o io $(pkg-config --cflags --libs tallskinny-io) && ./io)
# shellcheck disable=SC2046
$cc -std=c99 -Wall -Wextra -pedantic -Werror "$examples/eigenvalues.c" -o "$folder/eigenvalues" \
  $(pkg-config --cflags --libs tallskinny-c) -lm
"$folder/eigenvalues"
# The engine, and the C API, know no files.
for program in gemm eigenvalues; do
  if ldd "$folder/$program" | grep -E 'hdf5|libz\.|json'; then
    echo "$program needs what only files need"
    exit 1
  fi
done
