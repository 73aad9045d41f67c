#!/bin/sh
# Counts the user-space instructions and the allocations that each request costs a subject of sluice-bench.
#
# The count is the difference between two runs of different length, divided by the difference of their requests, so the
# start and the end of a run do not count. The runs use copies without symbols, because valgrind cannot read Swift's
# debug information. Prints one line for each subject: its name, instructions per request, allocations per request.
#
# With --loop, counts only the thread with the most instructions, which is the loop. A canary and a shadow are compared at
# fixed times by other threads, and valgrind makes the time between two requests fifty times as long.
#
# usage: scripts/count-instructions.sh [--tls] [--loop] SUBJECT…
set -eu
cd "$(dirname "$0")/.."
fail() { echo "count-instructions: $*" >&2; exit 1; }

secure=
if [ "${1:-}" = --tls ]; then secure=--tls; shift; fi
threads=no
if [ "${1:-}" = --loop ]; then threads=yes; shift; fi
[ $# -gt 0 ] || { echo "usage: scripts/count-instructions.sh [--tls] [--loop] SUBJECT..." >&2; exit 2; }
command -v valgrind >/dev/null || fail "valgrind is not installed (Debian: valgrind)"
built=Benchmarks/.build/release
[ -x $built/sluice-bench ] || fail "$built/sluice-bench does not exist; run make bench first"
[ -f .build/release/libstatic-headers.so ] || fail ".build/release has no plugins; run make build first"

work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
strip -o "$work/sluice-bench" $built/sluice-bench
strip -o "$work/libbench-stage.so" $built/libbench-stage.so
few=4000
many=12000

# Prints the instructions of a run with that many requests, and writes the run's report to $work/report.
instructions() {
  rm -f "$work"/out*
  valgrind --tool=callgrind --separate-threads=$threads --callgrind-out-file="$work/out" --log-file="$work/log" \
    "$work/sluice-bench" $secure --plugins .build/release --subject "$1" --rounds 1 --requests "$2" >"$work/report" ||
    fail "$1: see above"
  if [ $threads = yes ]; then sed -n 's/^totals: //p' "$work"/out-* | sort -n | tail -n 1
  else sed -n 's/^.*Collected : //p' "$work/log"; fi
}

for subject in "$@"; do
  first=$(instructions "$subject" $few)
  second=$(instructions "$subject" $many)
  allocations=$(awk -v name="$subject" '$1 == name { print $(NF - 1) }' "$work/report")
  # Each run also has a warm-up, of a quarter of its requests.
  echo "$subject $(((second - first) * 4 / ((many - few) * 5))) $allocations"
done
