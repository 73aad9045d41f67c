#!/bin/sh
# Writes tables of how "sluice send" treats curl's options into docs/command/curl.md, in place of the existing tables.
# Usage: scripts/write-curl-table.sh COMMAND
set -eu
tables=$(mktemp)
page=$(mktemp)
trap 'rm -f "$tables" "$page"' EXIT
"$1" help --curl >"$tables"
awk -v tables="$tables" '
  /^The same: `/ { while ((getline line < tables) > 0) print line; skipping = 1; next }
  skipping && /^## / { skipping = 0; print "" }
  !skipping { print }
' docs/command/curl.md >"$page"
cat "$page" >docs/command/curl.md
