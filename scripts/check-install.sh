#!/bin/sh
# Installs the debug build into a separate folder and runs it there. Then creates, builds and validates a plugin in C,
# one in C++ and one in Swift with the installed files, as their authors do.
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

"$prefix/bin/sluice" plugin inspect bearer-auth >"$work/out" || fail "an installed plugin is not found by its name"
grep -qxF "$prefix/lib/sluice/plugins/libbearer-auth.so" "$work/out" || fail "bearer-auth is found elsewhere: $(head -n 1 "$work/out")"

# The libraries that are loaded into other programs are found relative to the command.
echo '{"plugins": {"h": {"library": "static-headers", "config": {"request": {"X-A": "1"}}}}, "request": ["h"]}' >"$work/attach.json"
"$prefix/bin/sluice" attach -c "$work/attach.json" -- grep -m 1 -o '/.*libsluice-attach\.so$' /proc/self/maps >"$work/out" || fail "sluice attach does not run a program"
[ "$(realpath "$(cat "$work/out")")" = "$(realpath "$prefix/lib/sluice/libsluice-attach.so")" ] || fail "sluice attach preloads $(cat "$work/out")"

# shellcheck disable=SC2046 # the flags are words
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden $(pkg-config --cflags sluice) \
  -o "$work/libstatic-headers.so" plugins/static-headers/*.c $(pkg-config --libs jansson)
scripts/check-exports.sh "$work/libstatic-headers.so"

# A new plugin in each language builds, and keeps every rule. The Swift plugin has the same name as a type of its SDK,
# to show that this causes no conflict.
for plugin in c:outside-c cpp:outside-cpp swift:request; do
  language=${plugin%%:*} name=${plugin#*:}
  "$prefix/bin/sluice" plugin new "$name" --lang "$language" --path "$work" >/dev/null
  "$prefix/bin/sluice" plugin build "$work/$name" >"$work/out" 2>"$work/log" ||
    { cat "$work/log" >&2; fail "the new plugin in $language does not build"; }
  library=$(cat "$work/out")
  scripts/check-exports.sh "$library"
  "$prefix/bin/sluice" plugin inspect "$library" >/dev/null || fail "sluice plugin inspect refuses $library"
  "$prefix/bin/sluice" plugin validate --config '{"value": "a"}' "$library" >"$work/out" ||
    { cat "$work/out" >&2; fail "the new plugin in $language does not pass its validation"; }
  grep -q '^passed  self-tests' "$work/out" || fail "the cases of the new plugin in $language did not run"
done

# Without the command, as in an editor, the manifest of the Swift plugin finds the SDK by a link.
grep -q "\"/" "$work/request/Package.swift" && fail "the manifest of a new plugin has an absolute path"
(unset SLUICE_SDK && swift package --package-path "$work/request" describe >"$work/out" 2>&1) ||
  { cat "$work/out" >&2; fail "without SLUICE_SDK, the manifest of a new plugin does not find the SDK"; }

chmod go-w "$work/libstatic-headers.so"
"$prefix/bin/sluice" plugin inspect "$work/libstatic-headers.so" >/dev/null || fail "sluice plugin inspect refuses it"

# The Swift plugin also keeps every rule when it is built with its own runtime.
"$prefix/bin/sluice" plugin build --static-stdlib "$work/request" >"$work/out" 2>"$work/log" ||
  { cat "$work/log" >&2; fail "the new plugin in Swift does not build with a static standard library"; }
library=$(cat "$work/out")
scripts/check-exports.sh "$library"
"$prefix/bin/sluice" plugin inspect "$library" | grep -q '^  Swift runtime  static$' || fail "$library has no runtime of its own"
"$prefix/bin/sluice" plugin validate --config '{"value": "a"}' "$library" >"$work/out" ||
  { cat "$work/out" >&2; fail "the new plugin in Swift does not pass its validation with a static standard library"; }

make -s uninstall PREFIX="$prefix"
left=$(find "$prefix" -type f)
[ -z "$left" ] || fail "make uninstall leaves $left"
echo "check-install: passed"
