#!/bin/sh
# Measures the memory that a hot swap adds to a process, for each shipped plugin, while requests flow. Prints a table.
# usage: scripts/swap-memory.sh [--check] [FOLDER [PLUGIN...]]
# FOLDER has the built command and plugins (default .build/release). With --check, fails if a plugin takes clearly more
# memory than the table in docs/hot-swap.md says, three times in a row, or is not in that table. SWAPS is the number of
# swaps (default 20).
set -eu
cd "$(dirname "$0")/.."
check=
[ "${1:-}" != --check ] || { check=yes; shift; }
built=$(cd "${1:-.build/release}" && pwd)
[ "$#" -eq 0 ] || shift
count=${SWAPS:-20}
folder=$(mktemp -d)
server= run= feeder= failures=0
end() {
  for pid in $feeder $run $server; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

fail() {
  echo "swap-memory: $1" >&2
  cat "$folder"/*errors >&2
  exit 1
}

wait_for() { # SECONDS WHAT COMMAND...
  seconds=$1 what=$2
  shift 2
  until "$@"; do
    seconds=$((seconds - 1))
    [ "$seconds" -ge 0 ] || fail "waited too long for $what"
    sleep 1
  done
}

# The metrics of an idle engine are the resource that the requests ask for.
start_server() {
  mkfifo "$folder/idle"
  "$built/sluice" run --metrics-port 0 <"$folder/idle" >"$folder/server" 2>"$folder/server-errors" &
  server=$!
  exec 4>"$folder/idle"
  wait_for 30 "the server" grep -q metrics: "$folder/server-errors"
  url=$(sed -n 's/.*metrics: //p' "$folder/server-errors")
}

# Makes and swaps in a build with other content: bytes that are appended to the file change nothing else.
swap() {
  printf x >>"$folder/next.so"
  cp "$folder/next.so" "$folder/copy.so"
  mv "$folder/copy.so" "$folder/plugin.so"
  "$built/sluice" ctl swap --socket "$folder/control" plugin >"$folder/swap-errors" 2>&1 || fail "a swap of $1 failed"
}

# Waits until the previous builds have ended, and prints the private memory, and the clean pages of files, in KiB.
facts() {
  sleep 2
  awk '/^Private_Dirty:/ {dirty += $2} /^Private_Clean:/ {clean += $2} END {print dirty, clean}' "/proc/$run/smaps"
}

# The value that the table of the documents has for a plugin: 2 is private memory, 3 is file pages.
documented() { # PLUGIN COLUMN
  awk -F'|' -v plugin="$1" -v column="$2" '
    $2 ~ "^ `" plugin "` " {sub(/ KiB.*/, "", $(column + 2)); print $(column + 2) + 0}' docs/hot-swap.md
}

compare() { # PLUGIN WHAT MEASURED DOCUMENTED
  [ -n "$4" ] || { echo "swap-memory: docs/hot-swap.md has no figures for $1" >&2; return 1; }
  # What else the process does at the time of the measurement can add a little.
  [ "$3" -le $(($4 * 5 / 4 + 24)) ] || {
    echo "swap-memory: $1 takes $3 KiB of $2 for each swap; docs/hot-swap.md says $4 KiB" >&2
    return 1
  }
}

# Measures a plugin. With --check, repeats a measurement with more memory than documented: when the kernel takes back
# pages of files, and what the process allocates otherwise, differ from run to run.
check_plugin() { # as for measure
  for attempt in 1 2 3; do
    measure "$@"
    [ -n "$check" ] || return 0
    compare "$1" "private memory" "${figures% *}" "$(documented "$1" 2)" &&
      compare "$1" "file pages" "${figures#* }" "$(documented "$1" 3)" && return 0
  done
  failures=1
}

measure() { # PLUGIN LANGUAGE CONFIG LISTS
  rm -rf "$folder/store" "$folder/control" "$folder/input" "$folder/access.log"
  cp "$built/lib$1.so" "$folder/next.so"
  cp "$folder/next.so" "$folder/plugin.so"
  chmod go-w "$folder" "$folder"/*.so
  cat >"$folder/sluice.json" <<END
{"plugins": {"plugin": {"library": "plugin.so", "config": $3}}, $4, "store": "store",
 "swap": {"probation": {"duration": "0s"}, "drain": "1s"}}
END
  mkfifo "$folder/input"
  "$built/sluice" run -q -c "$folder/sluice.json" --rate 500/s --control="$folder/control" <"$folder/input" \
    >/dev/null 2>"$folder/errors" &
  run=$!
  yes "{\"url\": \"$url\"}" >"$folder/input" 2>/dev/null &
  feeder=$!
  wait_for 30 "the control socket" test -S "$folder/control"
  # The first swaps also load code that is loaded only once per process, and fill the memory that is used again.
  for number in $(seq 10); do swap "$1"; done
  before=$(facts)
  for number in $(seq "$count"); do swap "$1"; done
  after=$(facts)
  kill "$run"
  wait "$run" "$feeder" 2>/dev/null || true
  run= feeder=
  figures=$(echo "$before $after" | awk -v count="$count" '{
    printf "%.0f %.0f", ($3 > $1 ? $3 - $1 : 0) / count, ($4 > $2 ? $4 - $2 : 0) / count }')
  echo "| \`$1\` | $2 | ${figures% *} KiB | ${figures#* } KiB |"
}

wanted() { # PLUGIN PLUGINS...
  plugin=$1
  shift
  [ "$#" -gt 0 ] || return 0
  for each; do [ "$each" != "$plugin" ] || return 0; done
  return 1
}

start_server
echo "| plugin | language | private memory | file pages |"
echo "|---|---|---|---|"
while IFS='@' read -r name language config lists; do
  ! wanted "$name" "$@" || check_plugin "$name" "$language" "$config" "$lists"
done <<END
bearer-auth@C@{"token": "secret", "hosts": ["*"]}@"issue": ["plugin"]
json-edit@C@{"request": [{"op": "set", "path": "/a", "value": 1, "create": true}]}@"request": ["plugin"]
static-headers@C@{"request": {"x-a": "b"}}@"request": ["plugin"]
traffic-metrics@C@{}@"tracers": ["plugin"]
cache@Swift@{}@"request": ["plugin"], "response": ["plugin"]
error-enrichment@Swift@{}@"response": ["plugin"]
access-log@Swift, own runtime@{"output": "$folder/access.log"}@"tracers": ["plugin"]
oauth-refresh@Swift, own runtime@{"tokenEndpoint": "$url", "clientID": "a", "clientSecret": "b", "accessToken": "c", "hosts": ["*"]}@"request": ["plugin"], "response": ["plugin"]
aws-sigv4@Swift, own runtime@{"service": "s3", "region": "eu-central-1", "accessKeyID": "a", "secretAccessKey": "b", "hosts": ["*"]}@"request": ["plugin"], "issue": ["plugin"]
otlp@Swift, own runtime@{"endpoint": "${url%/metrics}"}@"tracers": ["plugin"]
END
[ "$failures" -eq 0 ]
