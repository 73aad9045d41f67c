#!/bin/sh
# Runs the shell blocks of the README, one after the other, with the debug build and a port that is free, and compares what
# the first request prints with the block that shows it. Ids, which are new each time, are not compared.
# usage: scripts/check-readme.sh
set -eu
# The servers are on this machine: no proxy leads to them.
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
repository=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
cd "$work"
for name in .build include Examples; do ln -s "$repository/$name" "$name"; done
PATH=$repository/.build/debug:$PATH

fail() {
  echo "check-readme: $*" >&2
  exit 1
}

# The blocks of one language, in order; without a number all of them.
blocks() { # language [number]
  awk -v mark="\`\`\`$1" -v wanted="${2:-0}" '
    $0 == mark || index($0, mark " ") == 1 { inside = 1; number++; next }
    /^```$/ { inside = 0 }
    inside && (wanted == 0 || number == wanted)' "$repository/README.md"
}

sluice echo >url &
server=$!
until [ -s url ]; do
  kill -0 "$server" 2>/dev/null || fail "the echo server ended before it listened"
  sleep 0.05
done
port=$(sed 's/.*://' url)
adapt() { sed -e '/^make /d' -e '/^sluice echo/d' -e 's|\.build/release|.build/debug|g' -e "s|8080|$port|g"; }
mask() { sed -E -e "s|:$port|:8080|" -e 's/[0-9a-f]{32}-[0-9a-f]{16}/ID/' -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/'; }

blocks sh 1 | adapt >session
unset TRACEPARENT TRACESTATE BAGGAGE OTEL_PROPAGATORS OTEL_TRACES_SAMPLER OTEL_TRACES_SAMPLER_ARG OTEL_SDK_DISABLED
export http_proxy= HTTP_PROXY= API_TOKEN=
sh -eu session >answer || fail "the session fails"
blocks json 1 | mask >expected
mask <answer >found
diff -u expected found >&2 || fail "the README shows another answer"

# The rest goes on where the session stopped.
export API_TOKEN=not-a-real-secret
blocks sh 2 | adapt >many
sh -eu many 2>summary || fail "the run fails"
grep -q '^5,000 requests in .*, 0 failed$' summary || { cat summary >&2; fail "the summary is another"; }
blocks sh 3 | adapt >plugin
sh -eu plugin >answer || fail "the plugin in C fails"
grep -q '"x-tenant": "blue"' answer || fail "the plugin in C set no header"
echo "check-readme: passed"
