#!/bin/sh
# Checks the alerts for Prometheus and the systemd units: promtool reads and runs the rules, an engine has every metric
# that they name, and systemd-analyze reads the units. What this machine has no program for is left out, and said.
# usage: scripts/check-operations.sh        SLUICE=.build/debug/sluice, or another build of the command
set -eu
cd "$(dirname "$0")/.."
: "${SLUICE:=.build/debug/sluice}"
rules=share/prometheus/sluice.rules.yml
work=$(mktemp -d)
run=
cleanup() {
  [ -z "$run" ] || kill "$run" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
  echo "check-operations: $*" >&2
  exit 1
}

# The metrics of an engine that has a stage and a tracer.
library=$PWD/.build/debug
cat >"$work/pipeline.json" <<JSON
{"plugins": {"h": {"library": "$library/libstatic-headers.so", "config": {"request": {"x-a": "1"}}},
             "m": {"builtin": "metrics"}}, "request": ["h"], "tracers": ["m"]}
JSON
mkfifo "$work/in"
"$SLUICE" run -c "$work/pipeline.json" -i "$work/in" --control "$work/control" >/dev/null 2>"$work/log" &
run=$!
for _ in $(seq 600); do
  if grep -q 'control socket' "$work/log"; then break; fi
  kill -0 $run 2>/dev/null || { cat "$work/log" >&2; fail "sluice run ended"; }
  sleep 0.05
done
"$SLUICE" ctl metrics --prometheus --socket "$work/control" >"$work/metrics"
kill $run && wait $run || true
run=
for name in $(grep -v '^ *#' $rules | grep -oE '\b(sluice|process)_[a-z_]+' | sort -u); do
  grep -q "^$name[{ ]" "$work/metrics" || fail "$rules names $name, which an engine does not have"
done

promtool=$(command -v promtool || echo .build/tools/promtool)
if [ -x "$promtool" ]; then
  promtool=$(realpath "$promtool")
  "$promtool" check rules $rules >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "promtool refuses $rules"; }
  cp $rules "$work/rules.yml"
  # Each alert fires, and none of them fires in the quiet series.
  cat >"$work/test.yml" <<'YAML'
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'sluice_engine_transactions_total{job="sluice", instance="a", outcome="failed"}', values: '0+10x60'}
      - {series: 'sluice_engine_transactions_total{job="sluice", instance="a", outcome="succeeded"}', values: '0+90x60'}
      - {series: 'sluice_engine_swaps_total{job="sluice", instance="a", outcome="refused"}', values: '0x25 1x40'}
      - {series: 'sluice_engine_swaps_total{job="sluice", instance="a", outcome="rolled-back"}', values: '0x25 1x40'}
      - {series: 'sluice_stage_faults_total{job="sluice", instance="a", phase="issue", stage="auth"}', values: '0+60x60'}
      - {series: 'sluice_stage_timeouts_total{job="sluice", instance="a", phase="issue", stage="auth"}', values: '0x60'}
      - {series: 'sluice_engine_stuck_loops{job="sluice", instance="a"}', values: '0x20 1x60'}
      - {series: 'sluice_tracer_drops_total{job="sluice", instance="a", tracer="otlp"}', values: '0+5x60'}
      - {series: 'process_open_fds{job="sluice", instance="a"}', values: '900x60'}
      - {series: 'process_max_fds{job="sluice", instance="a"}', values: '1000x60'}
      - {series: 'sluice_engine_transactions_total{job="sluice", instance="b", outcome="failed"}', values: '0+1x60'}
      - {series: 'sluice_engine_transactions_total{job="sluice", instance="b", outcome="succeeded"}', values: '0+99x60'}
      - {series: 'sluice_engine_swaps_total{job="sluice", instance="b", outcome="refused"}', values: '1x60'}
      - {series: 'sluice_engine_swaps_total{job="sluice", instance="b", outcome="published"}', values: '0+1x60'}
      - {series: 'sluice_engine_stuck_loops{job="sluice", instance="b"}', values: '0x60'}
      - {series: 'process_open_fds{job="sluice", instance="b"}', values: '100x60'}
      - {series: 'process_max_fds{job="sluice", instance="b"}', values: '1000x60'}
    promql_expr_test:
      - expr: count by (alertname, instance) (ALERTS{alertstate="firing"})
        eval_time: 35m
        exp_samples:
          - {labels: '{alertname="SluiceDescriptorsShort", instance="a"}', value: 1}
          - {labels: '{alertname="SluiceLoopStuck", instance="a"}', value: 1}
          - {labels: '{alertname="SluiceRequestsFail", instance="a"}', value: 1}
          - {labels: '{alertname="SluiceRolledBack", instance="a"}', value: 1}
          - {labels: '{alertname="SluiceStageFaults", instance="a"}', value: 1}
          - {labels: '{alertname="SluiceSwapRefused", instance="a"}', value: 1}
          - {labels: '{alertname="SluiceTracerDrops", instance="a"}', value: 1}
YAML
  (cd "$work" && "$promtool" test rules test.yml) >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "the alerts do not fire as they should"; }
else
  echo "check-operations: no promtool: the alerts were not run" >&2
fi

if command -v systemd-analyze >/dev/null; then
  for unit in sluice sluice-serve; do
    # The instance "orders", with the path of a command that exists.
    sed "s|@PREFIX@/bin/sluice|$(realpath "$SLUICE")|" "share/systemd/$unit@.service.in" >"$work/$unit@orders.service"
    # systemd-analyze may end with 0 although it has warned. A manual page that is not installed is no mistake of the unit.
    SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$work/$unit@orders.service" >"$work/out" 2>&1 ||
      { cat "$work/out" >&2; fail "systemd refuses $unit@.service"; }
    grep "$unit@" "$work/out" >&2 && fail "systemd warns about $unit@.service"
    # From 0 to 100, less is better.
    systemd-analyze security --offline=yes --threshold=20 "$work/$unit@orders.service" >"$work/out" 2>&1 ||
      { tail -n 5 "$work/out" >&2; fail "$unit@.service is exposed to more than it needs"; }
  done
else
  echo "check-operations: no systemd-analyze: the unit was not read" >&2
fi
echo "check-operations: passed"
