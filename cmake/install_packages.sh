#!/usr/bin/env bash
# Install the Debian packages named as arguments that are not installed yet; without arguments those that building and
# testing take.
set -euo pipefail

[ $# -gt 0 ] || set -- g++ cmake ninja-build libeigen3-dev libhdf5-dev zlib1g-dev libboost-program-options-dev \
  libopenblas0 openmpi-bin libmumps-seq-dev libmumps-dev libsuitesparse-dev libmetis5 nlohmann-json3-dev \
  libmatio-dev catch2

missing=()
for package in "$@"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install_packages.sh: as root, run: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
