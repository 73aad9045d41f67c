#!/bin/sh
# Checks that each filter for tests in the Makefile matches a test. `swift test` also succeeds if a filter matches none,
# so the target would pass without running anything after the test is renamed.
# usage: scripts/check-test-filters.sh
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
# The suites and the tests, by name. A filter has a dot for each space.
names=$(grep -rhoE --include='*.swift' '(struct|class|actor|enum) [A-Za-z0-9]+|func `[^`]+`' Tests)
filters=$(sed -n 's/^[A-Z_]*_\(SUITES\|TESTS\) = //p' Makefile | tr '|' '\n')
[ -n "$filters" ] || { echo "check-test-filters: the Makefile has no variable …_SUITES or …_TESTS" >&2; exit 1; }
status=0
for filter in $filters; do
  echo "$names" | grep -qE -- "$filter" && continue
  echo "check-test-filters: Makefile: no test or suite in Tests matches \"$filter\"" >&2
  status=1
done
exit $status
