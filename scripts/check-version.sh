#!/bin/sh
# Checks that every file that shows the version of the product shows the given one. Product.swift defines the version,
# and the Makefile takes it from there.
# usage: scripts/check-version.sh VERSION
set -u
cd "$(dirname "$0")/.."
version=${1:-}
failed=0

fail() {
  echo "check-version: $*" >&2
  failed=$((failed + 1))
}

printf '%s\n' "$version" | grep -qE '^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?$' ||
  fail "\"$version\", from Sources/Engine/SluiceAssembly/Base/Product.swift, is not a semantic version"

shown=$(sed -n '1s/.*"sluice \([^"]*\)".*/\1/p' share/man/man1/sluice.1)
[ "$shown" = "$version" ] || fail "share/man/man1/sluice.1 is of version $shown, not $version; change its first line"

for page in $(grep -lE 'sluice/[0-9]+\.[0-9]' README.md docs/*.md docs/command/*.md); do
  for shown in $(grep -oE 'sluice/[0-9]+(\.[0-9]+)+' "$page" | sort -u); do
    [ "$shown" = "sluice/$version" ] || fail "$page shows $shown, not sluice/$version"
  done
done

shown=$(.build/debug/sluice version | sed -n 's/^sluice //p')
[ "$shown" = "$version" ] || fail ".build/debug/sluice is of version $shown, not $version; build it again"

[ "$failed" -eq 0 ] || exit 1
echo "check-version: passed, $version"
