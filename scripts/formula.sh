#!/usr/bin/env bash
# Writes the formula for Homebrew and the recipe for conda of a release, with address and hash of its source distribution.
#
#     scripts/formula.sh ADDRESS FOLDER
#
# ADDRESS is where the files of the release are, and FOLDER has the source distribution and gets both.
set -euo pipefail
address=$1
folder=$2
source=$(cd "$folder" && ls | grep -E '^capeval-[0-9.]+\.tar\.gz$') || { echo "$folder has no source distribution: run maturin sdist --out $folder" >&2; exit 1; }
version=${source#capeval-}
version=${version%.tar.gz}
sum=$(sha256sum "$folder/$source" | cut -d ' ' -f 1)
for file in deploy/homebrew/capeval.rb deploy/conda/recipe.yaml; do
  sed -e "s|@HOME@|$address|" -e "s|@ADDRESS@|$address/$source|" -e "s|@VERSION@|$version|" -e "s|@SHA256@|$sum|" "$file" > "$folder/$(basename "$file")"
done
