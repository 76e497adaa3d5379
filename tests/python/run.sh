#!/usr/bin/env bash
# The Python package: a wheel of the bindings alone, against an installed library, in a fresh environment, and its
# tests: with the newest packages of PyPI, and with `system` also with those that the system has installed for PYTHON
# (python3 by default). Run as: run.sh PREFIX [FOLDER [system]]; FOLDER keeps environments and what was compiled.
set -euo pipefail
prefix=$(realpath "$1")
work=${2:-$(mktemp -d)}
mkdir -p "$work"
work=$(realpath "$work")
cd "$(dirname "$0")/../.."
tests=$PWD/tests/python
base=${PYTHON:-python3}

config=$(dirname "$(find "$prefix" -name tallskinnyConfig.cmake | head -n 1)")
[ -x "$work/venv/bin/python" ] || "$base" -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install -q --disable-pip-version-check nanobind scikit-build-core numpy scipy \
  scikit-learn pandas pytest mypy scipy-stubs pyarrow
rm -rf "$work/wheel"
"$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$work/wheel" \
  --config-settings=build-dir="$work/build" --config-settings=cmake.define.tallskinny_DIR="$config" .
ls -l "$work"/wheel/*.whl
cd "$work"  # so that what is imported is what was installed

# in_environment PYTHON TESTS...: installs the wheel there and runs these.
in_environment() {
  "$1" -m pip install -q --disable-pip-version-check --no-deps --force-reinstall "$work"/wheel/*.whl
  "$1" -c 'import numpy, scipy, sklearn; print(*(f"{m.__name__} {m.__version__}" for m in (numpy, scipy, sklearn)))'
  "$1" -m pytest -q -p no:cacheprovider "${@:2}"
}

in_environment "$python" "$tests"
if [ "${3:-}" = system ]; then
  [ -x "$work/system/bin/python" ] || "$base" -m venv --system-site-packages "$work/system"
  in_environment "$work/system/bin/python" "$tests/test_kmeans.py" "$tests/test_eigen.py" "$tests/test_package.py"
fi
