#!/bin/sh
# Starts the systemd units of the package in a Debian that systemd-nspawn boots: a run to its end, a stop by SIGTERM, a
# reload, a swap through the control socket, a crash, and requests from a FIFO; a gateway with a port and with a socket of
# systemd. Needs root and systemd-container.
# usage: scripts/check-unit.sh ROOT      ROOT is a Debian in which the package sluice is installed. It is changed: systemd
#        is installed, a plugin is replaced, and files of the service are left there
set -eu
root=$1

fail() {
  echo "check-unit: $*" >&2
  exit 1
}

command -v systemd-nspawn >/dev/null || fail "there is no systemd-nspawn; on Debian, install systemd-container"
[ -x "$root/usr/bin/sluice" ] || fail "the package sluice is not installed in $root"
if [ ! -x "$root/lib/systemd/systemd" ]; then
  chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends systemd systemd-sysv dbus procps >"$root/log" 2>&1 ||
    { cat "$root/log" >&2; fail "apt-get install systemd failed"; }
fi

cat >"$root/check-unit" <<'CHECK'
#!/bin/sh
# Runs in the booted system. The first failure ends it.
set -eu
fail() {
  echo "FAILED: $*"
  systemctl status 'sluice@*' 'sluice-serve@*' --no-pager || true
  journalctl -b -u "sluice@*" -u "sluice-serve@*" -o short-precise --no-pager | tail -n 30
  exit 1
}
# Waits at most 30 seconds until a command succeeds.
eventually() {
  for _ in $(seq 300); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.1; done
  fail "not within 30 seconds: $*"
}
state() { systemctl show -P "$2" "sluice@$1"; }
is() { [ "$(state "$1" "$2")" = "$3" ]; }
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
ctl() { command=$1 name=$2; shift 2; sluice ctl "$command" "$@" --socket "/run/sluice/$name/control"; }

rm -rf /var/lib/private/sluice /var/cache/private/sluice /var/log/sluice-stream.jsonl
sluice echo --port 8080 >/dev/null &
mkdir -p /etc/sluice
cat >/etc/sluice/orders.json <<'JSON'
{"plugins": {"auth": {"library": "bearer-auth", "config": {"token": {"env": "API_TOKEN"}, "hosts": ["127.0.0.1"]}},
             "log": {"library": "access-log", "config": {"output": "/var/lib/sluice/orders/access.log"}}},
 "issue": ["auth"], "tracers": ["log"], "transport": {"baseURL": "http://127.0.0.1:8080"}}
JSON
echo API_TOKEN=not-a-real-secret >/etc/sluice/orders.env
chmod 644 /etc/sluice/orders.json && chmod 600 /etc/sluice/orders.env

echo "== a run to its end"
# The first start has no requests. It makes the folder.
systemctl start sluice@orders || true
eventually is orders ActiveState failed
[ "$(state orders ExecMainStatus)" = 2 ] || fail "without requests, the status is $(state orders ExecMainStatus)"
seq 2000 | sed 's|.*|{"id": &, "url": "/orders/&"}|' >/var/lib/sluice/orders/requests.jsonl
systemctl reset-failed sluice@orders
systemctl start sluice@orders
eventually is orders ActiveState inactive
[ "$(state orders ExecMainStatus)" = 0 ] || fail "the run ended with $(state orders ExecMainStatus)"
cd /var/lib/sluice/orders
[ "$(grep -c '"status":200' results.jsonl)" = 2000 ] || fail "there are $(wc -l <results.jsonl) results"
grep -q 'Bearer not-a-real-secret' results.jsonl || fail "the token was not sent"
has_lines access.log 2000 || fail "access-log has written $(wc -l <access.log) lines"
journalctl -b -u sluice@orders -t sluice -o cat --no-pager | grep -v '^{' && fail "there are lines in the log that are no documents"
[ "$(stat -c %a results.jsonl)" = 600 ] || fail "results.jsonl has the mode $(stat -c %a results.jsonl)"
echo '{"id": 2001, "url": "/orders/2001"}' >>requests.jsonl
systemctl start sluice@orders
eventually is orders ActiveState inactive
has_lines results.jsonl 2001 || fail "the appended request has no result"

echo "== a stop while requests are in flight, and the next start"
seq 2002 200000 | sed 's|.*|{"id": &, "url": "/orders/&"}|' >>requests.jsonl
systemctl start sluice@orders
eventually has_lines results.jsonl 3000
systemctl stop sluice@orders
[ "$(state orders Result)" = success ] || fail "the result of a stop is $(state orders Result)"
done=$(wc -l <results.jsonl)
[ "$done" -lt 200000 ] || fail "the run was over before the stop"
systemctl start sluice@orders
eventually has_lines results.jsonl $((done + 1000))

echo "== a reload and a swap through the control socket"
ctl status orders | head -n 1
systemctl reload sluice@orders || fail "the reload fails"
eventually sh -c "journalctl -b -u sluice@orders -o cat --no-pager | grep -q 'reload 1: published'"
# One byte at the end makes another build.
cp /usr/lib/sluice/plugins/libbearer-auth.so /usr/lib/sluice/plugins/.new && echo >>/usr/lib/sluice/plugins/.new
mv /usr/lib/sluice/plugins/.new /usr/lib/sluice/plugins/libbearer-auth.so
ctl swap orders auth || fail "the swap was refused"

echo "== a crash"
pid=$(state orders MainPID)
kill -SEGV "$pid"
eventually sh -c "[ \"\$(systemctl show -P NRestarts sluice@orders)\" -ge 1 ]"
eventually is orders ActiveState inactive
[ "$(wc -l <results.jsonl)" = 200000 ] || fail "after a crash there are $(wc -l <results.jsonl) results"
[ "$(sort -u results.jsonl | wc -l)" = 200000 ] || fail "a result is there twice"

echo "== requests from a FIFO"
cat >/etc/systemd/system/sluice@stream.socket <<'UNIT'
[Socket]
ListenFIFO=/run/sluice-stream.requests
SocketMode=0620
UNIT
mkdir -p /etc/systemd/system/sluice@stream.service.d
cat >/etc/systemd/system/sluice@stream.service.d/stream.conf <<'UNIT'
[Unit]
Requires=sluice@stream.socket
After=sluice@stream.socket
[Service]
StandardInput=fd:sluice@stream.socket
StandardOutput=append:/var/log/sluice-stream.jsonl
StandardError=journal
ExecReload=
ExecStart=
ExecStart=/usr/bin/sluice run -c /etc/sluice/stream.json --control ${RUNTIME_DIRECTORY}/control --drain 60s --log-format json
UNIT
echo '{"transport": {"baseURL": "http://127.0.0.1:8080"}}' >/etc/sluice/stream.json
chmod 644 /etc/sluice/stream.json
systemctl daemon-reload
systemctl start sluice@stream.socket
echo '{"id": 1, "url": "/1"}' >/run/sluice-stream.requests
eventually has_lines /var/log/sluice-stream.jsonl 1
ctl status stream | head -n 1
grep -q '"message"' /var/log/sluice-stream.jsonl && fail "messages are among the results"
systemctl kill -s HUP --kill-whom=main sluice@stream
eventually sh -c "journalctl -b -u sluice@stream -o cat --no-pager | grep -q 'reload 1: published'"
systemctl restart sluice@stream.service
echo '{"id": 2, "url": "/2"}' >/run/sluice-stream.requests
eventually has_lines /var/log/sluice-stream.jsonl 2
systemctl stop sluice@stream.socket sluice@stream.service
[ "$(state stream Result)" = success ] || fail "the result of a stop is $(state stream Result)"

echo "== a gateway"
gateway() { # NAME, place, value of a header
  cat >"/etc/sluice/$1.json" <<JSON
{"plugins": {"mark": {"library": "static-headers", "config": {"response": {"X-Mark": "$3"}}}}, "response": ["mark"],
 "serve": {"to": "http://127.0.0.1:8080", "listen": [{"at": "$2", "clients": "open"}]}}
JSON
  chmod 644 "/etc/sluice/$1.json"
}
answers() { sluice send -i "http://127.0.0.1:$1/" | grep -qi "^x-mark: $2"; } # port, value
of_gateway() { systemctl show -P "$2" "sluice-serve@$1"; }
gateway shop 8081 first
systemctl start sluice-serve@shop || fail "the gateway does not start"
answers 8081 first || fail "the gateway does not answer after its start"
gateway shop 8081 second
systemctl reload sluice-serve@shop || fail "the reload of the gateway fails"
eventually answers 8081 second
cp /usr/lib/sluice/plugins/libstatic-headers.so /usr/lib/sluice/plugins/.new && echo >>/usr/lib/sluice/plugins/.new
mv /usr/lib/sluice/plugins/.new /usr/lib/sluice/plugins/libstatic-headers.so
sluice ctl swap mark --socket /run/sluice-serve/shop/control || fail "the swap of the gateway was refused"
answers 8081 second || fail "the gateway does not answer after a swap"
systemctl stop sluice-serve@shop
[ "$(of_gateway shop Result)" = success ] || fail "the result of a stop is $(of_gateway shop Result)"

echo "== a gateway with a socket of systemd"
gateway door systemd open
cat >/etc/systemd/system/sluice-serve@door.socket <<'UNIT'
[Socket]
ListenStream=127.0.0.1:8082
UNIT
systemctl daemon-reload
systemctl start sluice-serve@door.socket
answers 8082 open || fail "a client does not start the gateway"
kill -SEGV "$(of_gateway door MainPID)"
# The socket stays open, so a client waits for the next gateway.
answers 8082 open || fail "after a crash, the gateway does not answer"
[ "$(of_gateway door NRestarts)" -ge 1 ] || fail "the gateway was not started again"
systemctl stop sluice-serve@door.socket sluice-serve@door

echo PASSED
CHECK
cat >"$root/etc/systemd/system/check-unit.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
Environment=LC_ALL=C.UTF-8
ExecStart=/bin/sh /check-unit
ExecStopPost=/bin/systemctl poweroff --no-block
StandardOutput=append:/check-unit.log
StandardError=append:/check-unit.log
TimeoutStartSec=300
[Install]
WantedBy=default.target
UNIT
mkdir -p "$root/etc/systemd/system/graphical.target.wants"
ln -sf ../check-unit.service "$root/etc/systemd/system/graphical.target.wants/"
: >"$root/check-unit.log"
timeout -k 30 400 systemd-nspawn -q -D "$root" --boot --register=no --keep-unit >"$root/boot.log" 2>&1 </dev/null || true
cat "$root/check-unit.log"
grep -qx PASSED "$root/check-unit.log" || { tail -n 20 "$root/boot.log" >&2; fail "the unit does not do what it should"; }
echo "check-unit: passed"
