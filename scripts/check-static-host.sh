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
sluice=$PWD/.build/release/sluice
# Prints the path of a new plugin that is built with these options of plugin build.
new_plugin() {
  name=$1
  shift
  (cd "$work" && "$sluice" plugin new "$name" --lang swift >/dev/null)
  "$sluice" plugin build "$@" "$work/$name" 2>"$work/log" || { cat "$work/log" >&2; return 1; }
}
shared=$(new_plugin shared)
ldd "$shared" | grep -q libswiftCore || fail "$shared has its own Swift runtime"
own=$(new_plugin own --static-stdlib)
if ldd "$own" | grep -q libswiftCore; then fail "$own has a shared Swift runtime"; fi

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
             "shared": {"library": "$shared", "config": {"value": "from-shared"}}},
 "request": ["own", "shared"]}
END
"$host" send -c "$work/pipeline.json" "$(cat "$work/url")/a" >"$work/answer" || fail "the request failed"
grep -q from-own "$work/answer" || fail "the plugin with its own runtime set no header"
grep -q from-shared "$work/answer" || fail "the plugin with the shared runtime set no header"
"$host" plugin validate "$own" --config '{"value": "x"}' >"$work/log" || { cat "$work/log" >&2; exit 1; }
echo "check-static-host: passed"
