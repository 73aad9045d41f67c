#!/bin/sh
# Measures what "sluice attach" adds to one transfer, to one run of curl, and to a program without a transfer, in
# alternating rounds with and without attach. Prints, in microseconds, the median of the rounds without attach, the
# medians of the rounds with attach, and the differences. The transfers and their server share one processor, so that it
# does not sleep while a transfer waits. Otherwise the figures would include the time to wake the processor, which
# varies by more than the cost of a stage. With --instructions, prints the user-space instructions of one transfer
# instead, which other work on the machine does not affect; needs valgrind. usage: scripts/measure-attach.sh [ROUNDS |
# --instructions] Needs "make build" and nginx. SWIFT_PLUGIN=FILE measures a plugin in Swift too; CONFIG='{…}' is its
# configuration.
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-9}
: "${SLUICE:=.build/release/sluice}" "${TRANSFERS:=5000}" "${RUNS:=40}"
work=$(mktemp -d)
server=''
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

cc -O2 -Wall -o "$work/attach" Benchmarks/Peers/attach/attach.c -lcurl
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$work/nginx.conf" <<CONF
daemon off; pid $work/pid; error_log stderr crit; worker_processes 1;
events { worker_connections 256; }
http {
  access_log off; keepalive_requests 100000000;
  client_body_temp_path $work/1; proxy_temp_path $work/2; fastcgi_temp_path $work/3; uwsgi_temp_path $work/4; scgi_temp_path $work/5;
  server { listen 127.0.0.1:$port; location / { return 200 "ok\n"; } }
}
CONF
PATH=$PATH:/usr/sbin taskset -c 0 nginx -c "$work/nginx.conf" -p "$work" &
server=$!
url=http://127.0.0.1:$port/
for _ in $(seq 100); do curl -s -o /dev/null "$url" && break; sleep 0.05; done

plugin() { printf '"p": {"library": "%s", "config": %s}' "$1" "$2"; }
headers='"h": {"builtin": "headers", "config": {"hosts": ["127.0.0.1"], "propagators": ["tracecontext"]}}'
folder=$(cd "$(dirname "$SLUICE")" && pwd)
echo "{\"plugins\": {$headers}, \"issue\": [\"h\"]}" >"$work/injection.json"
echo "{\"plugins\": {$headers, $(plugin "$folder/libstatic-headers.so" '{"request": {"x-c": "1"}}')}, \"request\": [\"p\"], \"issue\": [\"h\"]}" >"$work/c.json"
subjects='injection c'
if [ -n "${SWIFT_PLUGIN:-}" ]; then
  echo "{\"plugins\": {$headers, $(plugin "$SWIFT_PLUGIN" "${CONFIG:-{\}}")}, \"request\": [\"p\"], \"issue\": [\"h\"]}" >"$work/swift.json"
  subjects="$subjects swift"
fi

# Runs a program, with or without attach. The program prints lines, and the first word of each line is the figure.
measure() { # subject, words…
  subject=$1
  shift
  if [ "$subject" = plain ]; then "$@"; else "$SLUICE" attach -c "$work/$subject.json" -- "$@"; fi
}

# Prints the difference between two runs, so that their start and end do not count. Uses copies without debug
# information, because valgrind cannot read that of Swift.
count() { # subject
  for transfers in 1000 3000; do
    measure "$1" valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$work/log" \
      "$work/attach" transfers "$url" "$transfers" >/dev/null
    sed -n 's/^.*Collected : //p' "$work/log"
  done | paste -s | while read -r few many; do echo "$1 $(((many - few) / 2000))"; done
}
if [ "$rounds" = --instructions ]; then
  for file in sluice libsluice-attach.so libsluice-attach-host.so; do strip -o "$work/$file" "$folder/$file"; done
  SLUICE=$work/sluice
  for subject in plain $subjects; do count "$subject"; done
  exit
fi
for _ in $(seq "$rounds"); do
  for subject in plain $subjects; do
    measure "$subject" taskset -c 0 "$work/attach" transfers "$url" "$TRANSFERS" | sed "s/^/transfer $subject /"
    measure "$subject" "$work/attach" runs "$RUNS" curl -s "$url" | sed "s/^/curl $subject /"
    measure "$subject" "$work/attach" runs "$((8 * RUNS))" true | sed "s/^/true $subject /"
  done
done >"$work/figures"

python3 - "$work/figures" <<'SUMMARY'
import statistics, sys
figures = {}
for line in open(sys.argv[1]):
    what, subject, figure = line.split()[:3]
    figures.setdefault(what, {}).setdefault(subject, []).append(float(figure))
names = {"transfer": "processor time of a transfer", "curl": "one run of curl", "true": "one run of true"}
for what, subjects in figures.items():
    plain = statistics.median(subjects["plain"])
    for subject, values in subjects.items():
        median = statistics.median(values)
        span = f"{min(values):.1f}–{max(values):.1f}"
        print(f"{names[what]:30} {subject:10} {median:10.1f} µs ({span})   added {median - plain:8.1f} µs")
SUMMARY
