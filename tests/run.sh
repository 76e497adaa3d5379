#!/usr/bin/env bash
# Install what is missing, build, and run every test. PRESET chooses another preset of CMakePresets.json.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${PRESET:-default}

echo "Builds everything and runs every test: 10 to 20 minutes on two cores, 4 more where there is a CUDA toolkit."
bash cmake/install_packages.sh
cmake --preset "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset" -j "$(nproc)"
