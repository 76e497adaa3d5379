#!/bin/bash
# completion.sh BIN: what bash completes for the programs in BIN; that zsh, fish and groff, where they are, accept what
# the programs write for them; and that pages for man have every option.
set -euo pipefail
bin=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
touch features.h5 'with blank.h5'
fail() { echo "$*" >&2; exit 1; }

for program in tssolve tskmeans tsdata tsbench; do
  [ -x "$bin/$program" ] || continue
  for shell in bash zsh fish; do "$bin/$program" --completion $shell >$program.$shell; done
  source ./$program.bash
  if command -v zsh >/dev/null; then zsh -n $program.zsh; fi
  if command -v fish >/dev/null; then [ -z "$(fish -c "source $program.fish" 2>&1)" ] || fail "$program: fish"; fi
  mapfile -t pages < <("$bin/$program" --list-options | sed -n "s/^[a-z]/$program &/p")  # of its commands
  for page in "$program" "${pages[@]}"; do
    "$bin"/$page --man >page.1
    if command -v groff >/dev/null; then
      warnings=$(groff -man -ww -Wbreak -z -Tutf8 page.1 2>&1)
      [ -z "$warnings" ] || fail "$page: $warnings"
    fi
    for option in $("$bin"/$page --list-options | grep '^--'); do
      [ "$page" = "$program" ] && [ ${#pages[@]} -gt 0 ] && continue
      grep -qF -- "${option//-/\\-}\\fR" page.1 || fail "$page: no $option in the page for man"
    done
  done
done

# complete WORD ...: what the last of these words is completed to.
complete_words() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "_$1"
  printf '%s\n' "${COMPREPLY[@]}"
}
expect() { [ "$1" = "$2" ] || fail "completed to '$1' where '$2' was expected"; }
expect "$(complete_words tskmeans --algorithm bi)" bisecting
expect "$(complete_words tskmeans --algorithm = two)" two-level
expect "$(complete_words tskmeans --init random-no)" ''
expect "$(complete_words tskmeans --init 'k-means|' | tr '\n' ' ')" 'k-means\|\| '
expect "$(complete_words tskmeans feat)" features.h5
expect "$(complete_words tskmeans --output with)" 'with blank.h5'
expect "$(complete_words tskmeans --max-iter '')" ''
expect "$(complete_words tssolve --which S | tr '\n' ' ')" 'SA SM '
expect "$(complete_words tssolve --chec | tr '\n' ' ')" '--checkpoint '
expect "$(complete_words tsdata c)" convert
expect "$(complete_words tsdata gen --bound)" --boundary
