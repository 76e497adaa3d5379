#!/usr/bin/env bash
# Builds the package for Debian in build-deb: deb.sh, or deb.sh cpu for one without the GPU engine (in build-deb-cpu).
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=default build=build-deb
if [ "${1:-}" = cpu ]; then preset=cpu build=build-deb-cpu; fi
bash cmake/install_packages.sh g++ cmake ninja-build libeigen3-dev libhdf5-dev zlib1g-dev libboost-program-options-dev \
  libmumps-seq-dev libsuitesparse-dev nlohmann-json3-dev libmatio-dev dpkg-dev
cmake --preset "$preset" -B "$build" -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_SHARED_LIBS=ON -DTS_TESTS=OFF
cmake --build "$build"
(cd "$build" && cpack)
