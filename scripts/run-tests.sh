#!/bin/sh
# Runs a test command. At the end, repeats the failures, which can be far up in the long output of the tests.
# usage: scripts/run-tests.sh swift test [OPTION...]
set -eu
cd "$(dirname "$0")/.."
mkdir -p .build
# Parallel tests need at least 4096 descriptors. The test process raises its limit to the hard limit, so look at the
# hard limit.
limit=$(ulimit -Hn)
if [ "$limit" != unlimited ] && [ "$limit" -lt 4096 ]; then
  echo "run-tests: the limit of descriptors is $limit (ulimit -Hn), so the tests run one at a time" >&2
  set -- "$@" --no-parallel
fi
# If all tests ran at once, they would wait for one another longer than the time limits of their requests.
: "${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:=6}"
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH
log=.build/tests.log
{
  status=0
  "$@" 2>&1 || status=$?
  echo "$status" >"$log.status"
} | tee "$log"
status=$(cat "$log.status")
[ "$status" -eq 0 ] && exit 0
printf '\nrun-tests: "%s" ended with %s; %s has all of it. What failed:\n' "$*" "$status" "$log" >&2
# Shows each crash and each issue, with the four lines that follow it: the frames of a crash, or what the test expected.
grep -aE -A 4 'recorded an issue|Fatal error|^\*\*\* |crashed:| in .* at /.*\.swift' "$log" | cut -c 1-400 | tail -n 120 >&2 || true
# The names of the tests, and how the process ended. They are printed last, because some readers of a long output keep
# only its end.
echo 'run-tests: the tests with issues, the tests that had not ended, and the last lines:' >&2
grep -aE '✘ .* (failed after|recorded an issue)|^error: ' "$log" | cut -c 1-200 | tail -n 8 >&2 || true
awk '
  match($0, / Test .* (started|passed|failed|skipped)/) && !/ Test (case|run) / {
    name = substr($0, RSTART)
    sub(/( with [0-9]+ test cases?)? (started\.|passed after|failed after|skipped).*/, "", name)
    if (/ started\.$/) open[name]; else delete open[name]
  }
  END { for (name in open) print "not ended:" name }
' "$log" | cut -c 1-120 | tail -n 8 >&2
tail -n 3 "$log" | cut -c 1-200 >&2
exit "$status"
