#!/usr/bin/env bash
# The Python package: a wheel of the bindings alone, against an installed library, in a fresh environment, and its
# tests. Run as: run.sh PREFIX [FOLDER]; FOLDER keeps the environment and what was compiled.
set -euo pipefail
prefix=$(realpath "$1")
work=${2:-$(mktemp -d)}
mkdir -p "$work"
work=$(realpath "$work")
cd "$(dirname "$0")/../.."

config=$(dirname "$(find "$prefix" -name tallskinnyConfig.cmake | head -n 1)")
[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install -q --disable-pip-version-check nanobind scikit-build-core numpy scipy \
  scikit-learn pandas pytest ||
  { echo "skipped: the packages that the tests take cannot be had from PyPI"; exit 0; }
rm -rf "$work/wheel"
"$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$work/wheel" \
  --config-settings=build-dir="$work/build" --config-settings=cmake.define.tallskinny_DIR="$config" .
"$python" -m pip install -q --disable-pip-version-check --no-deps --force-reinstall "$work"/wheel/*.whl
ls -l "$work"/wheel/*.whl
cd "$work"  # so that what is imported is what was installed
"$python" -m pytest -q -p no:cacheprovider "$OLDPWD/tests/python"
