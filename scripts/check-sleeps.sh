#!/bin/sh
# Counts the sleeps in the tests and their fixtures: calls of sleep, usleep, nanosleep, Task.sleep and Thread.sleep, and
# "sleep N" in shell text. A test waits for a signal or moves a manual clock, so the number may only become smaller. Who
# removes a sleep lowers the limit, so that it does not come back.
# usage: scripts/check-sleeps.sh [--list]
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
limit=24

sleep='(Task|Thread)\.sleep\(|(^|[^A-Za-z0-9_.])(u|nano|clock_nano)?sleep\(|(^|[^A-Za-z0-9_-])sleep [0-9]'

# Prints FILE:LINE:TEXT for each line with a sleep, except comments. Methods of other types that are named "sleep" do not
# count, for instance that of a manual clock.
lines() { # folder
  grep -rnE "$sleep" "$1" | grep -vE '^[^:]*:[0-9]*: *(//|\*|#[^!])|func sleep\(' || true
}
count() { lines "$1" | grep -oE "$sleep" | wc -l; } # folder

if [ "${1:-}" = --list ]; then lines Tests; exit; fi

# Checks the check.
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cat >"$work/Tests.swift" <<'SWIFT'
  try await Task.sleep(for: .seconds(1))
  "sh", ["-c", "exec sleep 600"]
  usleep(1000); nanosleep(&pause, NULL);
  // Task.sleep(for: .seconds(1)) in a comment
  try await clock.sleep(for: .seconds(1))
  @Test func `a sleep ends when its timer fires`() async throws {
SWIFT
[ "$(count "$work")" -eq 4 ] || { echo "check-sleeps: finds the wrong sleeps in its example" >&2; exit 1; }

found=$(count Tests)
if [ "$found" -gt "$limit" ]; then
  echo "check-sleeps: the tests have $found sleeps, more than $limit; wait for a signal or use a manual clock (scripts/check-sleeps.sh --list)" >&2
  exit 1
fi
if [ "$found" -lt "$limit" ]; then
  echo "check-sleeps: the tests have $found sleeps; set the limit in scripts/check-sleeps.sh to this number, which was $limit" >&2
  exit 1
fi
echo "check-sleeps: $found sleeps, not more"
