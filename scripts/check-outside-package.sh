#!/bin/sh
# Builds the plugins of Examples/ as their authors do, in C against include/ alone and in Swift as a separate package.
# Checks the results: exports, note, needed libraries, and what the command reports about them where they are built.
# Then compiles every Swift example of the guide that begins with an import of SluicePlugin.
# usage: scripts/check-outside-package.sh [FOLDER-TO-BUILD-IN]
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
build=${1:-.build/outside-package}

fail() {
  echo "check-outside-package: $*" >&2
  exit 1
}

check() { # library, what its note has to say
  scripts/check-exports.sh "$1"
  readelf --wide --notes "$1" >"$work/notes"
  grep -A2 '\.note\.sluice' "$work/notes" | grep -q 'sluice *0x0000002c' || fail "$1 has no note of 44 bytes"
  readelf --hex-dump=.note.sluice "$1" | grep -q "$2" || fail "the note of $1 does not say $2"
  needed=$(readelf --wide --dynamic "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  case $needed in
    *libstdc++* | *Foundation*) fail "$1 needs libraries that it must not need: $needed" ;;
  esac
  if [ -x .build/debug/sluice ] && .build/debug/sluice help 2>/dev/null | grep -q plugin; then
    chmod go-w "$1"
    .build/debug/sluice plugin inspect "$1" >/dev/null || fail "sluice plugin inspect refuses $1"
  fi
}

make -s -C Examples/c-plugin OUTPUT="$work"
check "$work/libstamp.so" '01000000 01000000'
readelf --wide --sections "$work/libstamp.so" | grep -qF .sluice.requires.document || fail "libstamp.so does not say what it requires"

for product in add-header ask-directory; do
  swift build --package-path Examples/SwiftPlugin --scratch-path "$build" --product $product >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "Examples/SwiftPlugin does not build"; }
  check "$build/debug/lib$product.so" '01000000 01000000'
done
awk -v dir="$work" '
  /^```swift$/ { inside = 1; out = dir "/guide-" (NR + 1) ".swift"; next }
  /^```$/ && inside { inside = 0; close(out); next }
  inside { print > out }
' docs/swift-plugins.md
# shellcheck disable=SC2046 # the flags are words
for example in $(grep -l '^import SluicePlugin' "$work"/guide-*.swift); do
  swiftc -typecheck -swift-version 6 -parse-as-library -I "$build/debug/Modules" -I include \
    -Xcc -fmodule-map-file=Sources/System/CJansson/module.modulemap $(pkg-config --cflags jansson) "$example" ||
    fail "an example of docs/swift-plugins.md does not compile"
done
echo "check-outside-package: passed"
