#!/usr/bin/env bash
# Tests of SciPy and scikit-learn on our functions. Run as: run.sh PYTHON, of an environment with both and tallskinny.
# Much of what they test is what is theirs alone; docs/notes/python.md says what fails and why.
set -uo pipefail
python=$(realpath -s "$1")
here=$(realpath "$(dirname "$0")")
cd "$(mktemp -d)" || exit 1
for module in sklearn.cluster.tests.test_k_means sklearn.cluster.tests.test_bisect_k_means \
  scipy.sparse.linalg._eigen.arpack.tests.test_arpack scipy.sparse.linalg._eigen.tests.test_svds; do
  printf '\n== %s\n' "$module"
  PYTHONPATH=$here timeout 600 "$python" -m pytest -q -p ours -p no:cacheprovider --tb=line --pyargs "$module" 2>&1
done
