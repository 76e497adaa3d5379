#!/usr/bin/env bash
# Builds the site in build/site/html: the Markdown of the tree by Sphinx, the public headers by Doxygen. Warnings are
# errors, and so is a link to nothing. Needs no build of the programs.
set -euo pipefail
cd "$(dirname "$0")/.."
bash cmake/install_packages.sh python3-sphinx python3-myst-parser furo doxygen
site=build/site
rm -rf "$site"
mkdir -p "$site"

# Installed headers: the PUBLIC_HEADERS of the rooms, and those that they include.
headers=()
while IFS= read -r list; do
  for header in $(grep -zoP 'PUBLIC_HEADERS\s+\K[^)]*' "$list" | tr '\0' ' '); do
    headers+=("$(dirname "$list")/$header")
  done
done < <(git ls-files '*CMakeLists.txt' | xargs grep -l 'PUBLIC_HEADERS')
[ ${#headers[@]} -gt 50 ] || { echo "only ${#headers[@]} public headers were found"; exit 1; }
list=$(IFS=';'; echo "${headers[*]}")
cmake -DCMAKE_INSTALL_PREFIX="$PWD/$site" -Droot="$PWD" -Dincludedir=include -Dheaders="$list" \
  -P cmake/install_headers.cmake >/dev/null

version=$(sed -nE 's/^project\(tallskinny VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
for place in CITATION.cff README.md docs/badges/version.svg docs/install.md cmake/packages/conda/recipe.yaml \
  cmake/packages/spack_repo/tallskinny/packages/tallskinny/package.py CHANGELOG.md; do
  grep -qF "$version" "$place" || { echo "$place does not know version $version"; exit 1; }
done
{
  cat docs/Doxyfile
  echo "PROJECT_NUMBER = $version"
  echo "OUTPUT_DIRECTORY = $site"
  echo "HTML_OUTPUT = html/api"
  echo "STRIP_FROM_PATH = $PWD/$site/include"
  echo "INPUT = $PWD/$site/include"
} >"$site/Doxyfile"
mkdir -p "$site/html"
doxygen "$site/Doxyfile"

/usr/bin/python3 -m sphinx -q -W --keep-going -j auto -c docs -d "$site/doctrees" . "$site/html"
/usr/bin/python3 docs/check_links.py "$site/html"
echo "The site is in $site/html/index.html: $(find "$site/html" -name '*.html' | wc -l) pages"
