#!/usr/bin/env bash
# Install what is missing, build the programs, and run them on the sample files in data/.
set -euo pipefail
cd "$(dirname "$0")/.."

bash cmake/install_packages.sh g++ cmake ninja-build libeigen3-dev libhdf5-dev zlib1g-dev \
  libboost-program-options-dev nlohmann-json3-dev
cmake --preset default -DTS_TESTS=OFF >/dev/null
cmake --build --preset default
