#!/usr/bin/env bash
# Lines of code, comments and empty lines aside, in every room and below it: bash lines.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
git ls-files -- '*.hpp' '*.cpp' '*.ipp' '*.cuh' '*.cu' '*.c' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' |
  grep -v '/bench/results/' | tr '\n' '\0' | xargs -0 awk '
  FNR == 1 {
    hashes = FILENAME ~ /(\.py|\.sh|\.cmake|\.txt)$/
    depth = split(FILENAME, part, "/")
    room = depth > 1 ? part[1] : "."
    below = depth > 2 ? room "/" part[2] : room "/."
  }
  /^[ \t]*$/ || (hashes && /^[ \t]*#/) || (!hashes && /^[ \t]*\/\//) {next}
  {rooms[room]++; belows[below]++; all++; if (room != "tests") code++}
  END {
    for (b in belows) printf "%s %d\n", b, belows[b] | "sort"
    close("sort")
    print ""
    for (r in rooms) printf "%s %d\n", r, rooms[r] | "sort"
    close("sort")
    printf "all %d\nall without tests %d\n", all, code
  }' | awk '!NF {print ""; next} {count = $NF; sub(/ [0-9]+$/, ""); printf "%-20s %7d\n", $0, count}'
