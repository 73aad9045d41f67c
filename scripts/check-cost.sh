#!/bin/sh
# Checks that requests cost no more instructions and allocations than Benchmarks/limits.txt allows.
#
# A line of that file has a subject, and the instructions and allocations of a request. The subjects are those of
# sluice-bench, and "serve" and "serve-stages", the pipelines of scripts/measure-serve.py. The subject "NINE - ONE" means
# one further stage: an eighth of the difference between the pipelines with nine stages and with one stage.
#
# usage: scripts/check-cost.sh
set -eu
cd "$(dirname "$0")/.."
limits=Benchmarks/limits.txt
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

subjects=$(awk '!/^#/ && !/^serve/ && NF { print $1; if ($2 == "-") print $3 }' $limits | sort -u)
# shellcheck disable=SC2086 # the subjects are words
scripts/count-instructions.sh $subjects >"$work/counts"
scripts/measure-serve.py --count >>"$work/counts"

awk -v limits=$limits '
  FNR == NR { instructions[$1] = $2; allocations[$1] = $3; next }
  /^#/ || !NF { next }
  {
    name = $1; own = instructions[$1]; made = allocations[$1]
    if ($2 == "-") {
      name = $1 " - " $3
      own = (instructions[$1] - instructions[$3]) / 8; made = (allocations[$1] - allocations[$3]) / 8
    }
    verdict = own <= $(NF - 1) && made <= $NF + 0.05 ? "ok" : "TOO MUCH"
    if (verdict != "ok") failed = 1
    printf "%-14s %7d instructions, at most %7d; %6.2f allocations, at most %6.2f: %s\n", \
      name, own, $(NF - 1), made, $NF, verdict
  }
  END {
    if (failed) print "check-cost: a request costs more than " limits " allows; see \"The cost of a request\" in Benchmarks/README.md" >"/dev/stderr"
    exit failed
  }' "$work/counts" $limits
