#!/bin/sh
# Compares the public symbols of the modules that programs and plugins import with the list in docs/api.txt, and prints
# the differences. A change of the list is a change of the API, and belongs in the changelog.
# usage: scripts/check-api.sh [--print]      after: swift build
set -u
cd "$(dirname "$0")/.."
list=docs/api.txt
most=300
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
fail() { echo "check-api: $*" >&2; exit 1; }

# The modules that re-export single types of other modules.
faces='Sluice SluiceConfiguration SluiceDelegates SluiceReports SluiceReplay'

# Prints the types that such a module re-exports, each as "KIND MODULE.TYPE".
shown_types() { # face
  sed -nE 's/^@_exported public import ([a-z]+ [A-Za-z0-9]+\.[A-Za-z0-9]+)$/\1/p' Sources/*/"$1/Exports.swift"
}

# The modules whose types are re-exported.
engine=$(for face in $faces; do shown_types "$face"; done | sed 's/.* //; s/\..*//' | LC_ALL=C sort -u)
modules=$({
  echo Sluice
  echo "$engine"
  # The module of the SDK, and the modules that it re-exports completely.
  echo SluicePlugin
  sed -n 's/^@_exported public import //p' Sources/Plugins/SluicePlugin/Plugin/Plugin.swift
  printf '%s\n' SluiceJSON SluiceJSONSchema SluiceLoop SluiceIDNA SluiceReplay \
    SluiceTrial SluicePluginFile SluicePluginHost SluiceCrash SluiceClient SluiceCookies SluiceFoundation SluiceControl \
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
count=$(grep -c . "$work/symbols")
[ "$count" -gt 100 ] || fail "only $count symbols were found"
for face in $faces; do
  shown_types "$face" >"$work/$face"
  [ -s "$work/$face" ] || fail "Exports.swift of $face shows no type"
  sed "s/^/$face export /" "$work/$face" >>"$work/symbols"
done
# SluicePlugin is imported directly, and re-exports all of SluiceMessages.
unseen=$(awk -v modules="$(echo $engine)" '
  BEGIN { split(modules, list, " "); for (i in list) isOurs[list[i]] = list[i] !~ /^Sluice(Messages|Plugin)$/ }
  $2 == "export" { sub(/.*\./, ""); isShown[$0] = 1; next }
  isOurs[$1] && $2 ~ /^(struct|class|enum|protocol|typealias)$/ && $3 !~ /\./ { types[$3] = $1 }
  END { for (type in types) if (!(type in isShown)) print types[type] "." type }' "$work/symbols")
[ -z "$unseen" ] || fail "no import of a program shows these types; add them to an Exports.swift:
$unseen"
LC_ALL=C sort "$work/symbols" >"$work/sorted"
if [ "${1-}" = --print ]; then cat "$work/sorted"; exit; fi
diff -u "$list" "$work/sorted" >"$work/difference" ||
  fail "the public API differs from $list; if that is wanted, run: scripts/check-api.sh --print >$list
$(grep '^[+-][^+-]' "$work/difference")"

# A re-exported type brings its members, including those in extensions.
shown=$(awk -v modules="$(echo $engine Sluice)" '
  BEGIN { split(modules, list, " "); for (i in list) isOurs[list[i]] = 1 }
  FILENAME != "-" { sub(/.*\./, ""); isShown[$0] = 1; next }
  $2 != "export" && $1 in isOurs { name = $3; sub(/[.(].*/, "", name); count += name in isShown }
  END { print count }' "$work/Sluice" - <"$work/sorted")
[ "$shown" -le "$most" ] || fail "\"import Sluice\" brings $shown symbols, and at most $most are allowed; re-export a type from another module instead"
echo "check-api: $count public symbols, as in $list; \"import Sluice\" brings $shown of at most $most"
