#!/bin/sh
# Measures the memory that a hot swap adds to a process: swaps builds of a C plugin, and then of a Swift plugin.
# usage: scripts/swap-memory.sh [FOLDER [SWAPS]]     FOLDER has the built command and plugins (default .build/release)
set -eu
cd "$(dirname "$0")/.."
built=$(cd "${1:-.build/release}" && pwd)
count=${2:-60}
folder=$(mktemp -d)
pid=
end() {
  [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

wait_for() { # SECONDS WHAT COMMAND...
  seconds=$1 what=$2
  shift 2
  until "$@"; do
    seconds=$((seconds - 1))
    [ "$seconds" -ge 0 ] || { echo "swap-memory: waited too long for $what" >&2; cat "$folder/errors" >&2; exit 1; }
    sleep 1
  done
}

# Makes and swaps in a build with other content: bytes that are appended to the file change nothing else.
swap() {
  printf x >>"$folder/next.so"
  cp "$folder/next.so" "$folder/copy.so"
  mv "$folder/copy.so" "$folder/plugin.so"
  "$built/sluice" ctl swap --socket "$folder/control" plugin >/dev/null
}

facts() { # private clean and private dirty memory, in KiB
  # Nothing runs on the previous builds, so they end at once. This does not ask for the status, because that would take
  # memory too.
  sleep 2
  awk '/^Private_Clean:/ {clean = $2} /^Private_Dirty:/ {dirty = $2} END {print clean, dirty}' "/proc/$pid/smaps_rollup"
}

measure() { # NAME LIST
  rm -rf "$folder"/*
  cp "$built/lib$1.so" "$folder/next.so"
  cp "$folder/next.so" "$folder/plugin.so"
  chmod go-w "$folder" "$folder"/*.so
  cat >"$folder/sluice.json" <<END
{"plugins": {"plugin": {"library": "plugin.so"}}, "$2": ["plugin"], "store": "store",
 "swap": {"probation": {"duration": "0s"}, "drain": "1s"}}
END
  mkfifo "$folder/input"
  "$built/sluice" run -q -c "$folder/sluice.json" --control="$folder/control" <"$folder/input" >/dev/null \
    2>"$folder/errors" &
  pid=$!
  exec 3>"$folder/input"
  wait_for 30 "the control socket" test -S "$folder/control"
  # The first swaps also load code that is loaded only once per process.
  for number in $(seq "$count"); do swap; done
  before=$(facts)
  for number in $(seq "$count"); do swap; done
  after=$(facts)
  exec 3>&-
  wait "$pid" || true
  pid=
  echo "$1 $before $after" | awk -v count="$count" '{
    printf "%s: %.0f KiB of private memory and %.0f KiB of clean file pages for each of %d swaps\n",
      $1, ($5 - $3) / count, ($4 - $2) / count, count }'
}

measure static-headers request
measure error-enrichment response
