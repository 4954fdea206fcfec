#!/usr/bin/env bash
# Packs the programs that were built for a target, with licences, completions, manual pages and lists of their parts.
#
#     scripts/archive.sh TARGET OUT
#
# The programs are in target/TARGET/dist, or in target/dist without such a folder. Completions and pages come from the program itself,
# so it must run here.
set -euo pipefail
target=$1
out=$2
built=target/$target/dist
[ -d "$built" ] || built=target/dist
mkdir -p "$out"
for program in capeval capeval-server; do
  file=$built/$program
  [ -f "$file.exe" ] && file=$file.exe
  [ -f "$file" ] || continue
  folder=$(mktemp -d)
  name=$program-$target
  mkdir -p "$folder/$name"
  cp "$file" LICENSE-MIT LICENSE-APACHE README.md "$folder/$name"
  if [ "$program" = capeval ]; then
    mkdir "$folder/$name/completions"
    for shell in bash zsh fish elvish powershell; do
      "$file" completions "$shell" > "$folder/$name/completions/capeval.$shell"
    done
    "$file" man "$folder/$name/man"
    package=crates/cli
  else
    cp deploy/capeval-server.service deploy/capeval-server.socket "$folder/$name"
    package=crates/server
  fi
  if cargo cyclonedx --version > /dev/null 2>&1; then
    cargo cyclonedx --manifest-path "$package/Cargo.toml" --format json --override-filename parts > /dev/null
    mv "$package/parts.json" "$folder/$name/$program.cyclonedx.json"
    find . -path ./target -prune -o -name parts.json -exec rm {} +
  fi
  tar -C "$folder" -czf "$out/$name.tar.gz" "$name"
  rm -r "$folder"
done
