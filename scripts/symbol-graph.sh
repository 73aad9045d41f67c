#!/bin/sh
# Writes the symbol graphs of a module into a folder: its public symbols with their documentation, as JSON.
# usage: scripts/symbol-graph.sh MODULE FOLDER [OPTION…]      after: swift build; OPTION is for the extractor
set -eu
cd "$(dirname "$0")/.."
module=$1 folder=$2
shift 2
for map in Sources/*/C*/module.modulemap include/module.modulemap .build/debug/C*.build/module.modulemap; do
  if [ -f "$map" ]; then set -- "$@" -Xcc "-fmodule-map-file=$map"; fi
done
mkdir -p "$folder"
exec swift symbolgraph-extract -module-name "$module" -minimum-access-level public -skip-synthesized-members \
  -target "$(uname -m)-unknown-linux-gnu" -I .build/debug/Modules -I include -I Sources/System/CJansson \
  -output-dir "$folder" "$@"
