#!/bin/sh
# Shows a pipeline at work: two plugins in C, one in Swift, two built-in stages, an echo server, one request, then
# thousands. Needs only the products of `make build`: no network, no root.
# usage: scripts/demo.sh [REQUESTS]     (default 5000)
set -eu
# The servers are on this machine, so no proxy is used.
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
cd "$(dirname "$0")/.."
built=$PWD/.build/release
requests=${1:-5000}

[ -x "$built/sluice" ] || { echo "demo: $built/sluice is not there; run make build first" >&2; exit 1; }
PATH=$built:$PATH
# Not in /tmp, where the mount options can forbid executable files, which plugins must be.
work=$(mktemp -d "$PWD/.build/demo.XXXXXX")
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$server" ] || wait "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

heading() { printf '\n== %s\n\n' "$*"; }

# Prints a command as a user would type it, and runs it.
show() {
  printf '$ %s\n' "$1"
  eval "$1"
}

for plugin in bearer-auth json-edit access-log; do
  # Sluice refuses a library that other users can change. With some umasks, a copy would be such a file.
  install -m 755 "$built/lib$plugin.so" "$work"
done
cd "$work"
# From here on, messages go to the standard output too, so that they appear between the results in the right order.
exec 2>&1

heading "An echo server: it answers with the request that it got"
sluice echo >url &
server=$!
until [ -s url ]; do
  kill -0 "$server" 2>/dev/null || { echo "demo: the echo server ended before it listened" >&2; exit 1; }
  sleep 0.05
done
url=$(cat url)
echo "$url"

heading "A pipeline: json-edit and bearer-auth in C, access-log in Swift, headers and metrics built in"
cat >sluice.json <<JSON
{
  "plugins": {
    "edit":    {"library": "libjson-edit.so",
                "config": {"request": [{"op": "set", "path": "/client", "value": "sluice"}]}},
    "auth":    {"library": "libbearer-auth.so",
                "config": {"token": {"env": "DEMO_TOKEN"}, "hosts": ["127.0.0.1"]}},
    "headers": {"builtin": "headers"},
    "log":     {"library": "libaccess-log.so", "config": {"output": "access.log"}},
    "metrics": {"builtin": "metrics"}
  },
  "request": ["edit"],
  "issue":   ["auth", "headers"],
  "tracers": ["log", "metrics"],
  "transport": {"baseURL": "$url", "proxy": ""},
  "store": "store"
}
JSON
cat sluice.json
export DEMO_TOKEN=not-a-real-secret
export TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
echo
show "sluice check -c sluice.json"

heading "One request. At the server it has the token, the caller's trace, and one more member in its body"
show "sluice send -c sluice.json -H 'content-type: application/json' -d '{\"item\": 1}' /items"

heading "Where its time goes"
show "sluice send -c sluice.json --trace -o answer.json -H 'content-type: application/json' -d '{\"item\": 2}' /items"

heading "$requests requests, one per line"
awk -v n="$requests" 'BEGIN {
  for (i = 1; i <= n; i++)
    printf "{\"id\": %d, \"method\": \"POST\", \"url\": \"/items\", \"headers\": {\"content-type\": \"application/json\"}, \"body\": {\"json\": {\"item\": %d}}}\n", i, i
}' >requests.jsonl
show "head -n 2 requests.jsonl"
show "sluice run -c sluice.json -i requests.jsonl -o results.jsonl"

heading "Every line has one result; the log has no token"
count() { wc -l <"$1" | tr -d ' '; }
distinct=$(sed 's/^{"id":\([0-9]*\),.*/\1/' results.jsonl | sort -u | wc -l | tr -d ' ')
echo "requests $(count requests.jsonl), results $(count results.jsonl), distinct ids $distinct, log lines $(count access.log)"
tail -n 1 access.log
if grep -q "$DEMO_TOKEN" access.log; then
  echo "demo: the log shows the token" >&2
  exit 1
fi
[ "$distinct" -eq "$requests" ] && [ "$(count results.jsonl)" -eq "$requests" ]
