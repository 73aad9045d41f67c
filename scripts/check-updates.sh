#!/bin/sh
# Takes signed releases of a plugin through their whole life, with the real commands and with nginx as the mirror:
#
#     1.0 serves ─ 1.1 is swapped in under load ─ 1.2 fails its probation ─ 1.3 ends the process ─ 1.1 is revoked, 1.0 serves
#
# After each step, checks which build serves, that no request fails because of an update, and what the status reports.
# usage: scripts/check-updates.sh        with the debug build
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
sluice=$repository/.build/debug/sluice
work=$(mktemp -d)
chmod 711 "$work"
cd "$work"
umask 022
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1 http_proxy= HTTP_PROXY= XDG_CACHE_HOME="$work/cache" LC_ALL=C.UTF-8
children=

cleanup() {
  status=$?
  touch "$work/stop"
  # shellcheck disable=SC2086 # the numbers are words
  [ -z "$children" ] || kill $children 2>/dev/null || true
  [ -f nginx.pid ] && kill "$(cat nginx.pid)" 2>/dev/null || true
  # shellcheck disable=SC2086
  [ -z "$children" ] || wait $children 2>/dev/null || true
  [ "$status" = 0 ] || { echo "check-updates: what the engine has said:"; cat ./*.log; } >&2
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
  echo "check-updates: $*" >&2
  exit 1
}

say() { echo "check-updates: $*"; }

# Waits until a command succeeds; the limit is meant for a very busy machine.
until_true() { # what, command…
  what=$1
  shift
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 1200 ] || fail "waited two minutes until $what"
    sleep 0.1
  done
}

# The builds: FAILS=1 fails every request, FAILS=2 ends the process at a request to …/crash.
build() { # version, FAILS
  mkdir -p "build-$1"
  # shellcheck disable=SC2046 # the flags are words
  cc -shared -fPIC -O1 -I"$repository/include" -DBUILD="\"$1\"" -DFAILS="$2" \
    "$repository/Tests/Fixtures/Plugins/stamps-release/plugin.c" -o "build-$1/stamp.so" $(pkg-config --cflags --libs jansson)
}

publish() { # operands and options of "publish add"
  "$sluice" publish add repository "$@" >/dev/null
  "$sluice" publish sign repository --key keys/release-1.key >/dev/null
  "$sluice" publish sign repository --key keys/release-3.key >/dev/null
  "$sluice" publish timestamp repository --key keys/timestamp.key >/dev/null
}

says() { "$sluice" ctl status --json --socket "$work/control" | grep -qF "$1"; }
installed() { "$sluice" update status -c sluice.json | grep -q "^installed: release $1;"; }
# Whether the last request passed through this build.
serves() { tail -n 1 "$results" | grep -qF "x-build\\\": \\\"$1\\\""; }
no_failures() { ! grep -F '"error"' "$results" >failures || fail "requests failed: $(head -n 1 failures)"; }

start() { # number of the run
  results=results-$1.jsonl
  while [ ! -e stop ]; do
    if rm crash 2>/dev/null; then echo '{"url": "/crash"}'; else echo '{"url": "/item"}'; fi
    sleep 0.02
  done | "$sluice" run -c sluice.json -o "$results" --no-progress >"run-$1.log" 2>&1 &
  engine=$!
  children="$children $engine"
  until_true "the engine answers" "$sluice" ctl status --socket "$work/control"
}

for version in 1.0 1.1 1.4; do build $version 0; done
build 1.2 1
build 1.3 2

"$sluice" publish init repository --keys keys >/dev/null
publish build-1.0/stamp.so
cp repository/root.json .

# A port below the ports that the kernel gives to clients.
port=$((10000 + $$ % 20000))
cat >nginx.conf <<EOF
daemon on; pid $work/nginx.pid; error_log $work/nginx.log; worker_processes 1;
events { worker_connections 64; }
http {
  access_log off; client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3;
  uwsgi_temp_path $work/t4; scgi_temp_path $work/t5;
  server { listen 127.0.0.1:$port; root $work/repository; }
}
EOF
PATH="$PATH:/usr/sbin" nginx -p "$work" -c "$work/nginx.conf" || fail "nginx does not start"
"$sluice" echo --port 0 >echo.log 2>&1 &
children="$children $!"
until_true "the echo server listens" grep -q 'http://' echo.log
echo=$(grep -o 'http://[0-9.:]*' echo.log | head -n 1)

cat >sluice.json <<EOF
{"update": {"url": "http://127.0.0.1:$port", "root": "root.json", "folder": "installed", "every": "1s"},
 "plugins": {"stamp": {"release": "stamp"}}, "request": ["stamp"], "control": "control",
 "transport": {"baseURL": "$echo"}, "swap": {"probation": {"duration": "2s", "transactions": 10}}}
EOF

start 1
until_true "1.0 serves" serves 1.0
until_true "1.0 has passed its probation" sh -c "'$sluice' update status -c sluice.json | grep -q 'passed release 1'"
say "release 1 (1.0) serves"

publish build-1.1/stamp.so
until_true "1.1 serves" serves 1.1
until_true "1.1 has passed its probation" sh -c "'$sluice' update status -c sluice.json | grep -q 'passed release 2'"
no_failures
say "release 2 (1.1) was swapped in under load, and no request failed"

publish build-1.2/stamp.so
until_true "release 3 was refused" says 'it failed in service'
until_true "1.1 serves again" serves 1.1
installed 2 || fail "release 2 is not the installed one after the probation of release 3"
says "$(sha256sum build-1.2/stamp.so | cut -c1-64)" || fail "the status does not have the refused hash"
say "release 3 (1.2) failed its probation; 1.1 serves, and the hash is refused"

publish build-1.3/stamp.so
until_true "1.3 serves" serves 1.3
touch crash
until_true "the process has ended" sh -c "! kill -0 $engine"
start 2
until_true "1.1 serves after the restart" serves 1.1
installed 2 || fail "release 2 is not the installed one after the crash"
says 'ended unexpectedly while release 4 was on probation' || fail "the status does not say why release 4 was left"
no_failures
say "release 4 (1.3) ended the process; after its restart 1.1 serves, and the status says why"

publish --from 1 --revoke "$(sha256sum build-1.1/stamp.so | cut -c1-64)"
until_true "1.0 serves" serves 1.0
installed 5 || fail "release 5 is not the installed one after 1.1 was revoked"
no_failures
say "release 5 revokes 1.1; 1.0 serves by a higher release"
