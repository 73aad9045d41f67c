#!/bin/sh
# Builds everything in Examples/, and runs the client and the plugins against the echo server of the command.
# usage: scripts/check-examples.sh        SLUICE=.build/debug/sluice, or another build of the command
set -eu
# The servers are on this machine, so no proxy is used.
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
cd "$(dirname "$0")/.."
: "${SLUICE:=.build/debug/sluice}"
work=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

# The packages are built in one folder, so that the modules of Sluice are built once.
built=$PWD/.build/examples
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }
for package in Client Compare Relay; do quietly swift build --package-path "Examples/$package" --scratch-path "$built"; done
quietly swift test --package-path Examples/Tenant --scratch-path "$built"
# The tests of a new plugin run the plugin in an engine, too.
"$SLUICE" plugin new request --lang swift --path "$work" >/dev/null
quietly env SLUICE_PACKAGE="$PWD" swift test --package-path "$work/request" --scratch-path "$built"
grep -q 'Test run with 1 test .*passed' "$work/log" || { cat "$work/log" >&2; echo "check-examples: the test of a new plugin did not run" >&2; exit 1; }
scripts/check-outside-package.sh

"$built/debug/Compare" sluice >"$work/out" || { cat "$work/out" >&2; echo "check-examples: a call of Compare fails" >&2; exit 1; }

"$SLUICE" echo >"$work/url" &
server=$!
until [ -s "$work/url" ]; do
  kill -0 "$server" 2>/dev/null || { echo "check-examples: $SLUICE echo ended before it listened" >&2; exit 1; }
  sleep 0.05
done
"$built/debug/Client" "$(cat "$work/url")/" >"$work/out"
for line in 'fetch: 200' 'typed: GET' 'postJSON: {"json":{"name":"a","count":2}}' 'client: GET' 'observe: 1 attempt' 'collect: [200: 100]' 'giveUp: cancelled' 'stayOnLoop: 200' 'ownThread: 200' sluice_hops_total 'notify: new-data' '0 0 traceparent hostNotListed' 'route: user.id is REDACTED' \
  'forwardLog: warning' 'forwardResults: GET 200 none' 'joinTrace: 00-0af7651916cd43dd8448eb211c80319c-' \
  'fromURLSession: / after 1 attempt' 'fromURLSession: the caller has given up' 'fromAsyncHTTPClient: true, 200' \
  'middleware: 2 attempts with a stage' 'middleware: 200 through a middleware' 'middleware: connect: '; do
  grep -qF "$line" "$work/out" || { cat "$work/out" >&2; echo "check-examples: the client does not say \"$line\"" >&2; exit 1; }
done

# Checks that plugins from outside of this package, which are loaded by path, can change the request and the response,
# both with functions and in the JSON document. The Swift plugin waits in both calls, and makes its changes after it has
# waited.
make -s -C Examples/c-plugin OUTPUT="$work"
chmod go-w "$work/libstamp.so" "$work" .build/outside-package/debug/*.so .build/outside-package/debug/
validate() { # library, configuration
  "$SLUICE" plugin validate "$1" --config "$2" >"$work/out" ||
    { cat "$work/out" >&2; echo "check-examples: $1 does not pass its validation" >&2; exit 1; }
}
validate "$work/libstamp.so" '{}'
validate .build/outside-package/debug/libadd-header.so '{"name": "x-color", "value": "red"}'
validate .build/outside-package/debug/libask-directory.so '{"teams": {"/v1": "core"}}'
cat >"$work/pipeline.json" <<JSON
{"plugins": {
  "stamp": {"library": "libstamp.so"},
  "team": {"library": "$PWD/.build/outside-package/debug/libadd-header.so", "config": {"name": "x-color", "value": "red"}},
  "directory": {"library": "$PWD/.build/outside-package/debug/libask-directory.so", "config": {"teams": {"/v1": "core"}}}},
 "request": ["stamp", "team", "directory"], "response": ["directory"], "transport": {"loops": 2}}
JSON
rest='"headers": {"content-type": "application/json"}, "body": {"json": {"a": 1}}'
for number in $(seq 200); do
  echo '{"id": '"$number"', "method": "POST", "url": "'"$(cat "$work/url")"'/v1/items", '"$rest}"
done | "$SLUICE" run -q -c "$work/pipeline.json" >"$work/results" ||
  { cat "$work/results" >&2; echo "check-examples: a run through the plugins failed" >&2; exit 1; }
# In a result, the body is a text with escaped quotes.
tr -d '\\' <"$work/results" >"$work/out"
[ "$(wc -l <"$work/out")" -eq 200 ] || { echo "check-examples: 200 lines have $(wc -l <"$work/out") results" >&2; exit 1; }
for part in '"x-stamp":"c-plugin"' '"stampedBy":"c-plugin"' '"x-color":"red"' '"x-team":"core"' '"team":"core"' \
  '"x-answered-for":"core"' '"answeredFor":"core"'; do
  count=$(grep -cF "$part" "$work/out" || true)
  [ "$count" -eq 200 ] || { head -1 "$work/out" >&2; echo "check-examples: $count of 200 results say $part" >&2; exit 1; }
done
echo "check-examples: passed"
