#!/bin/sh
# Checks that a host whose Swift runtime is linked statically can run both kinds of Swift plugins at once: one with the
# shared runtime, and one with its own. Builds the command a second time, which takes minutes.
# usage: scripts/check-static-host.sh      after: make build
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill $server; rm -rf "$work"' EXIT
fail() { echo "check-static-host: $*" >&2; exit 1; }

swift build -c release --static-swift-stdlib --product sluice --scratch-path .build/static-host >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; exit 1; }
host=.build/static-host/release/sluice
if ldd "$host" | grep -q libswiftCore; then fail "$host has a shared Swift runtime"; fi
shared=.build/release/libaccess-log.so
ldd "$shared" | grep -q libswiftCore || fail "$shared has its own Swift runtime"
sluice=$PWD/.build/release/sluice
(cd "$work" && "$sluice" plugin new own --lang swift >/dev/null)
own=$("$sluice" plugin build --static-stdlib "$work/own" 2>"$work/log") || { cat "$work/log" >&2; exit 1; }

"$sluice" echo --port 0 >"$work/url" 2>/dev/null &
server=$!
tries=0
until [ -s "$work/url" ]; do
  tries=$((tries + 1))
  [ $tries -le 100 ] || fail "the server did not start in 10 s"
  sleep 0.1
done
cat >"$work/pipeline.json" <<END
{"plugins": {"own": {"library": "$own", "config": {"value": "from-own"}},
             "log": {"library": "$PWD/$shared", "config": {"output": "$work/access.log"}}},
 "request": ["own"], "tracers": ["log"]}
END
"$host" send -c "$work/pipeline.json" "$(cat "$work/url")/a" >"$work/answer" || fail "the request failed"
grep -q from-own "$work/answer" || fail "the plugin with its own runtime set no header"
grep -q '"method":"GET"' "$work/access.log" || fail "the plugin with the shared runtime logged nothing"
"$host" plugin validate "$own" --config '{"value": "x"}' >"$work/log" || { cat "$work/log" >&2; exit 1; }
echo "check-static-host: passed"
