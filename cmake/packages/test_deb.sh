#!/usr/bin/env bash
# Installs a package for Debian, runs the programs on the files in data/, removes it, and looks whether anything is
# left:
# test_deb.sh PACKAGE.deb        in a fresh Debian 12 below a temporary folder (as root; mmdebstrap fetches it)
# test_deb.sh PACKAGE.deb here   in this system, which should be a container of its own
set -euo pipefail
package=$(realpath "$1")
place=${2:-fresh}
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/try.sh" <<'END'
set -eu
cd /tmp/tallskinny-try
everything() { find /usr /etc /opt /srv -xdev ! -name __pycache__ ! -name '*.pyc' | sort; }
name=$(dpkg-deb -f package.deb Package)
if dpkg -s "$name" >/dev/null 2>&1; then echo "$name is installed here already: remove it first"; exit 1; fi
depends=$(dpkg-deb -f package.deb Depends | tr ',' '\n' | sed 's/(.*//; s/|.*//')
[ -n "${IN_PLACE:-}" ] || apt-get update -qq
apt-get install -y -qq --no-install-recommends $depends >/dev/null
everything >before
apt-get install -y -qq --no-install-recommends ./package.deb >/dev/null
everything >with
for program in tssolve tskmeans tsdata tsbench; do
  $program --version
  for file in "man1/$program.1" "bash-completion/completions/$program"; do
    dpkg -L "$name" | grep -q "/$file\(.gz\)\?$" || { echo "the package has no $file"; exit 1; }
  done
done
tssolve data/membrane.h5 --which SA -k 8 -o pairs.h5
tssolve data/graphene.h5 -k 8 --sigma 0.5 --json >near.json
tskmeans data/blobs.h5 -k 12 -o clusters.h5
tsdata info pairs.h5
tsbench plan gram float64 1e6 8
dpkg -V "$name"                # files are as the package has them
apt-get purge -y -qq "$name" >/dev/null
everything >after
[ "$(wc -l <with)" -gt "$(($(wc -l <before) + 50))" ] || { echo "hardly anything was installed"; exit 1; }
diff before after || { echo "the package has left something, or taken something away"; exit 1; }
echo "$name: installed, ran, removed without a trace"
END

if [ "$place" = here ]; then
  root=
else
  root=$folder/root
  bash cmake/install_packages.sh mmdebstrap
  mmdebstrap --quiet --variant=apt --components=main bookworm "$root" \
    "${DEBIAN_MIRROR:-deb http://deb.debian.org/debian bookworm main}"
fi
try=$root/tmp/tallskinny-try
rm -rf "$try"
mkdir -p "$try"
cp -r data "$package" "$folder/try.sh" "$try"
mv "$try/$(basename "$package")" "$try/package.deb"
if [ "$place" = here ]; then
  IN_PLACE=yes DEBIAN_FRONTEND=noninteractive sh "$try/try.sh"
else
  DEBIAN_FRONTEND=noninteractive chroot "$root" sh /tmp/tallskinny-try/try.sh
fi
rm -rf "$try"
