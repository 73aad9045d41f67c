#!/bin/sh
# Checks that each test that is named outside of Tests exists: the filters of the Makefile, and the tests that show the
# rules of docs/http-rules.md. `swift test` also succeeds if a filter matches no test, so after a renaming a target would
# pass without running anything.
# usage: scripts/check-test-names.sh
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
# The suites and the tests, by name. A filter has a dot for each space.
names=$(grep -rhoE --include='*.swift' '(struct|class|actor|enum) [A-Za-z0-9]+|func `[^`]+`' Tests)
filters=$(sed -n 's/^[A-Z_]*_\(SUITES\|TESTS\) = //p' Makefile | tr '|' '\n')
[ -n "$filters" ] || { echo "check-test-names: the Makefile has no variable …_SUITES or …_TESTS" >&2; exit 1; }
status=0
for filter in $filters; do
  echo "$names" | grep -qE -- "$filter" && continue
  echo "check-test-names: Makefile: no test or suite in Tests matches \"$filter\"" >&2
  status=1
done
rules=docs/http-rules.md
shown=$(grep -oE '[A-Za-z0-9/]+Tests: "[^"]+"' "$rules" | sort -u)
[ -n "$shown" ] || { echo "check-test-names: $rules names no tests" >&2; exit 1; }
while IFS= read -r line; do
  file=${line%%: *}
  test=${line#*: \"}
  files=$(find Tests -path "*/$file.swift")
  [ -n "$files" ] && grep -qF "func \`${test%\"}\`" $files && continue
  echo "check-test-names: $rules: there is no test $line" >&2
  status=1
done <<LINES
$shown
LINES
exit $status
