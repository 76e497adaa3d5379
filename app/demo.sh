#!/usr/bin/env bash
# Install what is missing, build the programs, and run them on the sample files in data/. PRESET as in tests/run.sh,
# which goes on with the same build.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${PRESET:-default}
case $preset in default | ci) build=build ;; *) build=build-$preset ;; esac

echo "Builds tssolve, tskmeans and tsdata in $build/ and runs them on the files in data/: 3 to 7 minutes on two cores."
bash cmake/install_packages.sh
cmake --preset "$preset"
cmake --build --preset "$preset" --target tssolve tskmeans tsdata
PATH=$PWD/$build/bin:$PATH
mkdir -p out

run() { printf '\n$ %s\n' "$*"; "$@"; }
run tssolve data/membrane.h5 --which SA --nev 8 --output out/membrane_pairs.h5 --report out/membrane.html
run tssolve data/graphene.h5 --which LA --nev 13 --tol 1e-10
run tskmeans data/blobs.h5 --n-clusters 12 --output out/blobs_clusters.h5 --report out/blobs.html
run tsdata info out/membrane_pairs.h5
cat <<END

The results are in out/; out/membrane.html and out/blobs.html are pages with pictures about the runs.
What else the programs do: $PWD/$build/bin/tssolve --help
END
