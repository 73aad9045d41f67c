#!/bin/sh
# Checks that none of the given programs and libraries needs Foundation, directly or through another library.
# usage: scripts/check-foundation.sh FILE…
set -u
[ $# -gt 0 ] || { echo "usage: scripts/check-foundation.sh FILE…" >&2; exit 2; }
failed=0

for file; do
  needed=$(ldd "$file") || { echo "check-foundation: $file: ldd cannot read it; build it first" >&2; failed=$((failed + 1)); continue; }
  found=$(printf '%s\n' "$needed" | grep -oE 'lib_?Foundation[A-Za-z]*\.so[^ ]*' | sort -u | tr '\n' ' ')
  [ -z "$found" ] || { echo "check-foundation: $file needs $found" >&2; failed=$((failed + 1)); }
  missing=$(printf '%s\n' "$needed" | awk '/not found/ { printf "%s ", $1 }')
  [ -z "$missing" ] || { echo "check-foundation: $file needs $missing, which this machine lacks" >&2; failed=$((failed + 1)); }
done

[ "$failed" -eq 0 ] || exit 1
echo "check-foundation: $# passed"
