#!/usr/bin/env bash
# Runs every example of README.md in the order in which they stand there: readme.sh ROOT PROGRAMS
set -euo pipefail
root=$1
export PATH=$2:$PATH
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp -r "$root/data" "$folder"
mkdir "$folder/out"
cd "$folder/out"

examples=0
while IFS= read -r example; do
  printf '$ %s\n' "$example"
  bash -c "$example" </dev/null >said 2>&1 || { echo "exit status $?"; cat said; exit 1; }
  examples=$((examples + 1))
done < <(grep -E '^    ts(solve|kmeans|data|bench) ' "$root/README.md")
[ "$examples" -ge 20 ] || { echo "only $examples examples were found in README.md"; exit 1; }
