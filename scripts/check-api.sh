#!/bin/sh
# Compares the public symbols of the modules that programs and plugins import with the list in docs/api.txt, and prints
# the differences. A change of the list is a change of the API, and belongs in the changelog. SluiceServer may change with
# any version, so it is left out.
# usage: scripts/check-api.sh [--print]      after: swift build
set -u
cd "$(dirname "$0")/.."
list=docs/api.txt
most=880
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
fail() { echo "check-api: $*" >&2; exit 1; }

# What the modules re-export, each line as "MODULE export WHAT".
exports=$(
  for file in Sources/*/*/Exports.swift; do
    module=$(basename "$(dirname "$file")")
    sed -nE "s/^@_exported public import (.*)$/$module export \1/p" "$file"
  done)
# The modules that "import Sluice" shows completely.
engine="Sluice $(echo "$exports" | sed -nE 's/^Sluice export ([A-Za-z]+)$/\1/p')"
modules=$({
  printf '%s\n' $engine
  # The module of the SDK, and the modules that it re-exports completely.
  echo SluicePlugin
  sed -n 's/^@_exported public import //p' Sources/Plugins/SluicePlugin/Plugin/Plugin.swift
  printf '%s\n' SluiceJSON SluiceJSONSchema SluiceLoop SluiceIDNA SluiceReplay \
    SluiceTrial SluicePluginFile SluicePluginHost SluiceCrash SluiceClient SluiceCookies SluiceFoundation SluiceControl \
    SluiceUpdate SluiceUpdateRules
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
count=$(grep -c . "$work/symbols")
[ "$count" -gt 100 ] || fail "only $count symbols were found"
[ -n "$exports" ] || fail "no Exports.swift re-exports a module"
echo "$exports" >>"$work/symbols"
LC_ALL=C sort "$work/symbols" >"$work/sorted"
if [ "${1-}" = --print ]; then cat "$work/sorted"; exit; fi
diff -u "$list" "$work/sorted" >"$work/difference" ||
  fail "the public API differs from $list; if that is wanted, run: scripts/check-api.sh --print >$list
$(grep '^[+-][^+-]' "$work/difference")"

shown=$(awk -v modules="$engine" '
  BEGIN { split(modules, list, " "); for (i in list) isShown[list[i]] = 1 }
  $2 == "export" && $1 == "Sluice" && $4 ~ /^SluicePlugin\./ { sub(/.*\./, "", $4); types[$4] = 1; next }
  { name = $3; sub(/[.(].*/, "", name) }
  $2 != "export" && ($1 in isShown || $1 == "SluicePlugin" && name in types) { count++ }
  END { print count }' "$work/sorted")
[ "$shown" -le "$most" ] || fail "\"import Sluice\" brings $shown symbols, and at most $most are allowed; give names that no program needs package access"
echo "check-api: $count public symbols, as in $list; \"import Sluice\" brings $shown of at most $most"
