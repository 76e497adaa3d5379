#!/usr/bin/env bash
# Runs every example of the pages below, each page in a folder of its own and in the order in which they stand there:
# readme.sh ROOT PROGRAMS. Examples are indented lines that begin with a program's name.
set -euo pipefail
root=$1
export PATH=$2:$PATH
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# page FILE LEAST: the examples of FILE, of which there are LEAST or more.
page() {
  local examples=0 place=$folder/${1//\//_}
  mkdir -p "$place/out"
  cp -r "$root/data" "$place"
  cd "$place/out"
  while IFS= read -r example; do
    printf '$ %s\n' "$example"
    bash -c "$example" </dev/null >said 2>&1 || { echo "exit status $?"; cat said; exit 1; }
    examples=$((examples + 1))
  done < <(grep -E '^    ts(solve|kmeans|data|bench) ' "$root/$1")
  [ "$examples" -ge "$2" ] || { echo "only $examples examples were found in $1"; exit 1; }
}

page README.md 6
page docs/tssolve.md 16
page docs/tskmeans.md 9
page docs/tsdata.md 5
page docs/start.md 5
page docs/engine.md 3
page docs/coming-from/eigsh.md 2
page docs/coming-from/scikit-learn.md 3
page docs/coming-from/faiss.md 3
