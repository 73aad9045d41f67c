#!/bin/sh
# Measures how long "sluice dev" takes from saving a source of a new plugin until a request is answered by the saved
# code: waiting for quiet, building, the trial, the swap and the request. Prints a line for each save, in milliseconds,
# with what dev reports about its build; then the median.
# usage: scripts/save-to-live.sh [c|swift] [SAVES]     (default swift 9)
set -eu
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
cd "$(dirname "$0")/.."
language=${1:-swift}
saves=${2:-9}
sluice=${SLUICE:-$PWD/.build/release/sluice}

[ -x "$sluice" ] || { echo "save-to-live: $sluice is not there; run make build first" >&2; exit 1; }
# Not in /tmp, where the mount options can forbid executable files, which plugins must be.
work=$(mktemp -d "$PWD/.build/save-to-live.XXXXXX")
echo= dev=
cleanup() {
  for process in $dev $echo; do
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Waits until the file has a line with the text; prints the first such line.
line_with() {
  until grep -s -m 1 -e "$1" "$2"; do
    kill -0 "$3" 2>/dev/null || { echo "save-to-live: a process has ended:" >&2; cat "$2" >&2; exit 1; }
    sleep 0.1
  done
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

cd "$work"
"$sluice" plugin new saved --lang "$language" >/dev/null
case $language in c) source=saved/plugin.c ;; *) source=saved/Sources/SavedPlugin/SavedPlugin.swift ;; esac
"$sluice" echo --port 0 >echo.out 2>&1 &
echo=$!
server=$(line_with 'http://' echo.out "$echo" | sed 's|.*\(http://[0-9.:]*\).*|\1|')
sed -i "s|http://127.0.0.1:8080|$server|" saved/pipeline.json
"$sluice" dev -c saved/pipeline.json --listen 0 --json >dev.out 2>&1 </dev/null &
dev=$!
address=$(line_with '"event":"started"' dev.out "$dev" | sed 's|.*"listen":"\([^"]*\)".*|\1|')

header=x-saved
for number in $(seq "$saves"); do
  # After this pause, the replay of the previous swap is over.
  sleep 1
  # Saves as editors do: a new file replaces the old one.
  sed "s|$header|x-saved-$number|g" "$source" >edited
  header=x-saved-$number
  start=$(milliseconds)
  mv edited "$source"
  until curl -sS "http://$address/" | grep -q "\"$header\""; do
    kill -0 "$dev" 2>/dev/null || { cat dev.out >&2; exit 1; }
    [ $(($(milliseconds) - start)) -lt 120000 ] || { echo "save-to-live: no request was answered by the saved code within two minutes" >&2; tail dev.out >&2; exit 1; }
    # Pause after each request: otherwise these requests would use a processor that the compiler needs.
    sleep 0.02
  done
  time=$(($(milliseconds) - start))
  built=$(grep '"event":"built"' dev.out | tail -1 | sed 's|.*"durationMs":\([0-9.]*\).*|built in \1 ms|')
  way=$(grep '"event":"built"' dev.out | tail -1 | grep -o '"way":"[a-z]*"' || true)
  echo "$time  $built $way"
done | tee times
sort -n times | awk '{ times[NR] = $1 } END { print "median " times[int((NR + 1) / 2)] " ms, " times[1] "–" times[NR] " ms" }'
