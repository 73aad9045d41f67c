#!/bin/sh
# Compares the public symbols of the modules that programs and plugins import with the list in docs/api.txt, and prints
# the difference. A change of the list is a change of the API: it belongs into the changelog.
# usage: scripts/check-api.sh [--print]      from what "swift build" made
set -u
cd "$(dirname "$0")/.."
list=docs/api.txt
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
fail() { echo "check-api: $*" >&2; exit 1; }

# A module and those that it re-exports.
exports() { echo "$1"; sed -n 's/^@_exported public import //p' "$2"; }
engine=$(exports Sluice Sources/Sluice/Exports.swift)
modules=$({
  echo "$engine"
  exports SluicePlugin Sources/SluicePlugin/Plugin/Plugin.swift
  printf '%s\n' SluiceJSON SluiceJSONSchema SluiceMetrics SluiceLoop SluiceIDNA SluiceRecords SluiceReplay \
    SluiceTrial SluicePluginFile SluicePluginImage SluiceCrash SluiceClient SluiceCookies SluiceFoundation SluiceControl \
    SluiceServer SluiceUpdate SluiceUpdateRules
} | LC_ALL=C sort -u)

symbols() { # module
  rm -f "$work"/*.json
  scripts/symbol-graph.sh "$1" "$work" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
  grep -ohE '"kind":\{"identifier":"swift\.[a-z.]+","displayName":"[A-Za-z ]+"\},"identifier":\{[^}]*\},"pathComponents":\[[^]]*\]' \
    "$work"/*.symbols.json |
    sed -E 's/^"kind":\{"identifier":"swift\.([a-z.]+)".*"pathComponents":\[(.*)\]$/\1 \2/; s/","/./g; s/"//g' |
    sed "s/^/$1 /"
}

for module in $modules; do
  symbols "$module" >>"$work/symbols" || fail "the symbols of $module cannot be read; run: swift build"
done
LC_ALL=C sort "$work/symbols" >"$work/sorted"
count=$(grep -c . "$work/sorted")
[ "$count" -gt 100 ] || fail "only $count symbols were found"
if [ "${1-}" = --print ]; then cat "$work/sorted"; exit; fi
diff -u "$list" "$work/sorted" >"$work/difference" ||
  fail "the public API differs from $list; if that is wanted, run: scripts/check-api.sh --print >$list
$(grep '^[+-][^+-]' "$work/difference")"
shown=$(for module in $engine; do grep "^$module " "$work/sorted"; done | wc -l)
echo "check-api: $count public symbols, as in $list; \"import Sluice\" shows $shown"
