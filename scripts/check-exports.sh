#!/bin/sh
# Checks that a plugin exports only its entry point; mangled Swift names ($s…) are allowed too.
# usage: scripts/check-exports.sh LIBRARY…
set -u
[ $# -gt 0 ] || { echo "usage: scripts/check-exports.sh LIBRARY…" >&2; exit 2; }
list=$(dirname "$0")/exports.txt
failed=0

# Symbols for the start and end of sections, which some linkers export from every library.
linker='^(_init|_fini|_edata|_end|_etext|__bss_start|__data_start)$'

for library; do
  symbols=$(nm -D --defined-only --extern-only --format=posix "$library") || { failed=$((failed + 1)); continue; }
  found=$(printf '%s\n' "$symbols" | cut -d' ' -f1 | sed 's/@.*//' | grep -vE "$linker" | grep -v '^\$s' | sort -u)
  if [ "$found" != "$(sort -u "$list")" ]; then
    failed=$((failed + 1))
    echo "check-exports: $library does not export what $list says; < is missing, > is too much:" >&2
    printf '%s\n' "$found" | diff "$list" - | grep '^[<>]' >&2
  fi
done

echo "check-exports: $(($# - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
