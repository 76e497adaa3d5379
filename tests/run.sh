#!/usr/bin/env bash
# Install what is missing, build, and run every test. PRESET chooses another preset of CMakePresets.json.
set -euo pipefail
cd "$(dirname "$0")/.."

bash cmake/install_packages.sh g++ cmake ninja-build libeigen3-dev libhdf5-dev zlib1g-dev \
  libboost-program-options-dev nlohmann-json3-dev catch2
preset=${PRESET:-default}
cmake --preset "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset" -j "$(nproc)"
