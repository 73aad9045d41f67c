#!/bin/sh
# Runs every fuzzer, or only the named ones, for SECONDS each. Findings are written to Fuzzers/.build/findings.
# usage: scripts/fuzz.sh SECONDS [FUZZER…]
set -eu
cd "$(dirname "$0")/../Fuzzers"
seconds=${1:?usage: scripts/fuzz.sh SECONDS [FUZZER…]}
shift
[ $# -gt 0 ] || set -- traceparent tracestate baggage b3 carrier response request preflight
: "${SWIFT:=swift}"
# Swift's backtraces would end the process before libFuzzer has saved the input.
export SWIFT_BACKTRACE=enable=no
# shellcheck disable=SC2086 # the options are words
$SWIFT build -c release --sanitize=fuzzer ${SWIFTFLAGS:-}
# Small libraries as seeds: with and without symbols, with a needed library, with and without a note.
make_libraries() {
  flags="-shared -fPIC -I../include $(pkg-config --cflags jansson) -Wl,-z,noseparate-code -Wl,-z,max-page-size=64 -Wl,--build-id"
  for plugin in minimal no-note own-jansson; do
    for strip in -s -Wl,-soname,liba.so,-rpath,/a; do
      # shellcheck disable=SC2086 # the options are words
      "${CC:-cc}" $flags $strip -DLINKAGE= "../Tests/Fixtures/Plugins/$plugin"/*.c -o "$1/$plugin$(echo "$strip" | cut -c1-3).so" -ljansson
    done
  done
}

failed=
for name; do
  echo "fuzz: $name, $seconds s"
  mkdir -p ".build/corpus/$name" ".build/findings/$name"
  # Inputs must be able to be longer than the limit of baggage, which is 8192 bytes, and than a small library, which has
  # about 5,000 bytes.
  seeds=Seeds/$name length=9000
  if [ "$name" = preflight ]; then
    seeds=.build/seeds/$name length=16000
    mkdir -p "$seeds"
    make_libraries "$seeds"
  fi
  words=
  [ ! -f "Seeds/$name.dict" ] || words=-dict=Seeds/$name.dict
  ".build/release/fuzz-$name" ${words:+"$words"} -max_total_time="$seconds" -max_len="$length" -len_control=20 -timeout=5 \
    -print_final_stats=1 -artifact_prefix=".build/findings/$name/" ".build/corpus/$name" "$seeds" 2>".build/$name.log" || failed="$failed $name"
  grep -E 'stat::number_of_executed_units|ERROR|Fatal error|DONE' ".build/$name.log" || true
done
[ -z "$failed" ] || { echo "fuzz: found something:$failed; see Fuzzers/.build/findings and Fuzzers/.build/NAME.log" >&2; exit 1; }
echo "fuzz: nothing found"
