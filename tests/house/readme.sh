#!/usr/bin/env bash
# Runs every example of the pages below, each page in a folder of its own and in the order in which they stand there,
# and compares what pages say that tssolve finds with what it finds: readme.sh ROOT PROGRAMS. Examples are indented
# lines that begin with a program's name.
set -euo pipefail
root=$1
export PATH=$2:$PATH
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# said WORDS: the set that they name: a word of --which, "sigma" with its number, or nothing.
said() {
  case $1 in
    *'nearest to zero'*) echo SM ;;
    *'nearest to '[-0-9]*) printf 'sigma %g\n' "$(sed -E 's/.*nearest to (-?[0-9.]*[0-9]).*/\1/' <<<"$1")" ;;
    *magnitude*) [[ $1 == *small* ]] && echo SM || echo LM ;;
    *rightmost* | *'largest real part'*) echo LR ;;
    *'both ends'*) echo BE ;;
    *'smallest singular'*) echo SM ;;
    *smallest*) echo SA ;;
    *largest*) echo LA ;;
  esac
}

# found COMMAND: the set that the command finds, in the same words.
found() {
  local json which sigma
  json=$(bash -c "${1/--json/} --json --quiet" </dev/null)
  which=$(sed -nE 's/.*"which": ?"([A-Z]+)".*/\1/p' <<<"$json")
  sigma=$(sed -nE 's/.*"sigma": ?(-?[0-9.e+-]+).*/\1/p' <<<"$json")
  [ -z "$sigma" ] && echo "$which" || printf 'sigma %g\n' "$sigma"
}

# expect PLACE WORDS COMMAND: what they say is what it finds.
expect() {
  local words finds
  words=$(said "$2") finds=$(found "$3")
  [ "$words" = "$finds" ] || { echo "$1 says of '$3': '$2' ($words), but it finds $finds"; exit 1; }
  compared=$((compared + 1))
}

# page FILE LEAST: the examples of FILE, of which there are LEAST or more.
page() {
  local examples=0 place=$folder/${1//\//_} words command
  mkdir -p "$place/out"
  cp -r "$root/data" "$place"
  cd "$place/out"
  while IFS= read -r example; do
    printf '$ %s\n' "$example"
    bash -c "$example" </dev/null >said 2>&1 || { echo "exit status $?"; cat said; exit 1; }
    words=${example#*\# } command=${example%%\#*}
    if [[ $example == '    tssolve '*'#'* && -n $(said "$words") ]]; then expect "$1" "$words" "$command"; fi
    examples=$((examples + 1))
  done < <(grep -E '^    ts(solve|kmeans|data|bench) ' "$root/$1")
  [ "$examples" -ge "$2" ] || { echo "only $examples examples were found in $1"; exit 1; }
}

compared=0
page README.md 6
page docs/choosing.md 1
page docs/tssolve.md 16
page docs/tskmeans.md 9
page docs/tsdata.md 5
page docs/start.md 5
page docs/engine.md 3
page docs/coming-from/eigsh.md 2
page docs/coming-from/scikit-learn.md 3
page docs/coming-from/faiss.md 3
[ "$compared" -ge 8 ] || { echo "only $compared examples say what they find"; exit 1; }

# Statements of pages that have no example. The matrix has eigenvalues of both signs.
mkdir "$folder/words"
cd "$folder/words"
tsdata gen xxchain --n 6 -o a.h5 >/dev/null
tsdata gen mikota --n 40 -o model.h5 >/dev/null
tsdata convert model.h5:/K k.h5 >/dev/null 2>&1
tsdata convert model.h5:/M m.h5 >/dev/null 2>&1
compared=0

# "Without options `tssolve` finds ..."
while IFS= read -r sentence; do expect "a page" "$sentence" "tssolve a.h5"; done \
  < <(cat "$root"/README.md "$root"/docs/*.md | tr '\n' ' ' | grep -oE 'Without options `tssolve` finds [^.,]*')

# Tables of calls: | `eigsh(A, k=6, which="LA")` | `tssolve a.mtx -k 6 --which LA` | ...
while IFS='|' read -r _ call command _; do
  command=$(sed -E 's/.*`(tssolve [^`]*)`.*/\1/; s/\.mtx/.h5/g' <<<"$command")
  which=$(sed -nE 's/.*which="([A-Z]+)".*/\1/p' <<<"$call")
  sigma=$(sed -nE 's/.*sigma=([-0-9.]+)[,)].*/\1/p' <<<"$call")
  case $call in *largest=False*) which=SA ;; *svds*) which=${which:-LA} ;; esac
  finds=$(found "$command")
  wanted=${sigma:+sigma $sigma}
  wanted=${which:-${wanted:-LM}}  # SciPy's default
  [ "$finds" = "$wanted" ] || { echo "$call is $wanted, but '$command' finds $finds"; exit 1; }
  compared=$((compared + 1))
done < <(grep -hE '^\| `(eigsh|eigs|svds|lobpcg)\(.*\| `tssolve [a-z]' "$root"/docs/coming-from/*.md)

# Tables of defaults: | which | LM | LM, ... |
default=$(found "tssolve a.h5")
while IFS='|' read -r _ _ _ cell _; do
  [[ $cell == " $default"[\ ,]* ]] || { echo "a table says that --which is$cell unless given, not $default"; exit 1; }
  compared=$((compared + 1))
done < <(grep -hE '^\| which \|' "$root"/docs/coming-from/*.md)

# Tables of options: | the largest | `--which LA` | ...
while IFS='|' read -r _ words option _; do
  expect "a table" "$words" "tssolve a.h5 -k 3 $(sed -E 's/.*`(--which [A-Z]+)`.*/\1/' <<<"$option")"
done < <(grep -hE '^\| [a-z ]+ \| `--which [A-Z]+` \|' "$root"/docs/choosing.md)
[ "$compared" -ge 20 ] || { echo "only $compared statements were found in tables and sentences"; exit 1; }
