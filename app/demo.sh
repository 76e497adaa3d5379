#!/usr/bin/env bash
# Install what is missing, build the programs, and run them on the sample files in data/.
set -euo pipefail
cd "$(dirname "$0")/.."

bash cmake/install_packages.sh g++ cmake ninja-build libeigen3-dev libhdf5-dev zlib1g-dev \
  libboost-program-options-dev nlohmann-json3-dev
cmake --preset default -B build/demo -DTS_TESTS=OFF
cmake --build build/demo --target tssolve tskmeans tsdata
PATH=$PWD/build/demo/app/tssolve:$PWD/build/demo/app/tskmeans:$PWD/build/demo/app/tsdata:$PATH
mkdir -p out

run() { printf '\n$ %s\n' "$*"; "$@"; }
run tssolve data/membrane.h5 --which SA --nev 8 --output out/membrane_pairs.h5
run tssolve data/graphene.h5 --which LA --nev 13 --tol 1e-10
run tskmeans data/blobs.h5 --n-clusters 12 --output out/blobs_clusters.h5
run tsdata info out/membrane_pairs.h5
printf '\nThe results are in out/. What else the programs do: %s --help\n' "$PWD/build/demo/app/tssolve/tssolve"
