#!/bin/sh
# Runs two suites of W3C. The suite trace-context (level 2, strict) tests the relay of Examples/, "sluice send" with
# environment variables, and curl under "sluice attach". The suite baggage tests the library. The
# suites are not part of this repository.
# usage: scripts/check-w3c.sh PATH...      each a checkout of github.com/w3c/trace-context or /w3c/baggage, or a folder with both
# SLUICE=.build/debug/sluice or another build of the command; PYTHON=python3, which needs aiohttp for trace-context
set -eu
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
[ $# -gt 0 ] || { echo "usage: scripts/check-w3c.sh PATH..." >&2; exit 2; }
traces='' baggage=''
for path in "$@"; do
  for folder in "$path" "$path/trace-context" "$path/baggage"; do
    [ ! -f "$folder/test/tracecontext/traceparent.py" ] || traces=$(cd "$folder/test" && pwd)
    [ ! -f "$folder/test/test_baggage.py" ] || baggage=$(cd "$folder/test" && pwd)
  done
done
[ -n "$traces$baggage" ] || { echo "check-w3c: no suite in $*" >&2; exit 2; }
cd "$(dirname "$0")/.."
: "${SLUICE:=.build/debug/sluice}" "${PYTHON:=python3}"
work=$(mktemp -d)
server=''
stop() {
  [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
  server=''
}
trap 'stop; rm -rf "$work"' EXIT

swift build --package-path Examples/Relay >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
RELAY=$PWD/Examples/Relay/.build/debug/Relay
export RELAY

# Runs the suite against a service, given as a command that prints its URL; all 41 cases must run.
check_service() {
  : >"$work/url"
  "$@" >"$work/url" &
  server=$!
  for _ in $(seq 200); do
    [ ! -s "$work/url" ] || break
    kill -0 "$server" 2>/dev/null || { echo "check-w3c: $* ended before it listened" >&2; exit 1; }
    sleep 0.05
  done
  [ -s "$work/url" ] || { echo "check-w3c: $* does not listen" >&2; exit 1; }
  port=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  (cd "$traces" && HARNESS_PORT=$port HARNESS_TIMEOUT=30 SPEC_LEVEL=2 STRICT_LEVEL=2 "$PYTHON" -B test.py "$(cat "$work/url")/") >"$work/out" 2>&1 ||
    { cat "$work/out" >&2; exit 1; }
  grep -qE '^Ran 41 tests' "$work/out" && ! grep -qE 'skipped=' "$work/out" ||
    { tail -3 "$work/out" >&2; echo "check-w3c: expected 41 cases, all of them run" >&2; exit 1; }
  stop
}

if [ -n "$traces" ]; then
  check_service "$RELAY"
  echo "check-w3c: trace-context: 41 cases passed with the relay"
  cat >"$work/sluice.json" <<JSON
{"plugins": {"headers": {"builtin": "headers", "config": {"hosts": ["*"]}}}, "issue": ["headers"]}
JSON
  check_service "$PYTHON" -B scripts/w3c/send_service.py "$SLUICE" "$work/sluice.json"
  echo "check-w3c: trace-context: 41 cases passed with sluice send"
  check_service "$PYTHON" -B scripts/w3c/send_service.py "$SLUICE" "$work/sluice.json" --attach
  echo "check-w3c: trace-context: 41 cases passed with curl under sluice attach"
fi
if [ -n "$baggage" ]; then
  # Python finds the classes of our baggage.py before those of the suite, because the working folder comes first.
  (cd scripts/w3c && PYTHONPATH=$baggage "$PYTHON" -B -m unittest test_baggage) >"$work/out" 2>&1 ||
    { cat "$work/out" >&2; exit 1; }
  count=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$work/out")
  echo "check-w3c: baggage: $count cases passed"
fi
