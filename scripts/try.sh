#!/bin/sh
# Builds and runs the tests of one module, and builds nothing that they do not need. The build is in .build/try, beside
# the usual one. Tests that run the command or load a built plugin need all products, so theirs is the usual build.
# usage: scripts/try.sh MODULE [OPTION OF swift test…]      MODULE with or without "Sluice"
set -eu
cd "$(dirname "$0")/.."
: "${SWIFT:=swift}"
# Not all tests at once, as in scripts/run-tests.sh.
: "${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:=6}"
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH
module=
for name in "${1:--}" "Sluice${1:--}"; do
  for folder in Tests/*/"$name"Tests; do
    if [ -d "$folder" ]; then module=$name tests=$folder; fi
  done
done
if [ -z "$module" ]; then
  echo "try: no tests for the module \"${1:-}\"; there are tests for:" >&2
  for folder in Tests/*/*Tests; do basename "$folder" Tests; done | sort | paste -s -d ' ' | fold -s -w 100 >&2
  exit 2
fi
shift
if grep -rqE 'BuiltProducts|StampedLibrary|MutatedPlugins' "$tests"; then
  echo "try: the tests of $module use the command or plugins, so everything is built"
  $SWIFT build --build-tests "$@"
  chmod go-w .build/debug .build/debug/*.so
  set -- --skip-build "$@"
else
  export SLUICE_TRY="$module"
  set -- --scratch-path .build/try "$@"
fi
exec $SWIFT test --filter "^${module}Tests\\." "$@"
