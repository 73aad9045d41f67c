#!/bin/sh
# Installs the debug build into a folder of its own, runs it there, and builds a plugin in C and one in Swift against
# what was installed, as their authors do.
# usage: scripts/check-install.sh
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
  echo "check-install: $*" >&2
  exit 1
}

make -s install CONFIGURATION=debug PREFIX="$prefix"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
version=$(pkg-config --modversion sluice)
"$prefix/bin/sluice" version | grep -qF "$version" || fail "sluice version does not name $version, as sluice.pc does"

# shellcheck disable=SC2046 # the flags are words
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden $(pkg-config --cflags sluice) \
  -o "$work/libstatic-headers.so" plugins/static-headers/*.c $(pkg-config --libs jansson)
scripts/check-exports.sh "$work/libstatic-headers.so"

mkdir -p "$work/package/Sources"
cp -R plugins/access-log "$work/package/Sources/Outside"
rm -f "$work/package/Sources/Outside/README.md"
cat >"$work/package/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "outside",
  products: [.library(name: "outside", type: .dynamic, targets: ["Outside"])],
  dependencies: [.package(path: "$(pkg-config --variable=sdkdir sluice)")],
  targets: [.target(name: "Outside", dependencies: [.product(name: "SluicePlugin", package: "sdk")])])
SWIFT
swift build --package-path "$work/package" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the package outside does not build"; }
scripts/check-exports.sh "$work/package/.build/debug/liboutside.so"

for library in "$work/libstatic-headers.so" "$work/package/.build/debug/liboutside.so"; do
  chmod go-w "$library"
  "$prefix/bin/sluice" plugin inspect "$library" >/dev/null || fail "sluice plugin inspect refuses $library"
done

make -s uninstall PREFIX="$prefix"
left=$(find "$prefix" -type f)
[ -z "$left" ] || fail "make uninstall leaves $left"
echo "check-install: passed"
