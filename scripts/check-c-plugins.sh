#!/bin/sh
# Builds each C plugin together with a test program that takes the place of the host, and runs the program. Uses
# sanitizers if the compiler has them. usage: scripts/check-c-plugins.sh
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
: "${CC:=cc}"
passed=0 failed=0

flags="-std=c11 -g -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -ITests/Plugins/CPlugins"
flags="$flags -Wl,--wrap=malloc -Wl,--wrap=calloc $(pkg-config --cflags jansson)"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
echo 'int main(void) { return 0; }' >"$work/trial.c"
if ! $CC $sanitizers "$work/trial.c" -o "$work/trial" 2>/dev/null || ! "$work/trial"; then
  sanitizers=
  echo "check-c-plugins: $CC has no sanitizers here; leaks and overruns are not detected" >&2
fi

for plugin in bearer-auth json-edit static-headers; do
  name=$(echo $plugin | tr - _)
  # shellcheck disable=SC2086 # the flags are words
  $CC $flags $sanitizers plugins/$plugin/*.c "Tests/Plugins/CPlugins/${name}_test.c" \
    Tests/Plugins/CPlugins/testing.c Tests/Plugins/CPlugins/stub_host.c Tests/Plugins/CPlugins/stub_exchange.c Tests/Plugins/CPlugins/stub_origins.c \
    -o "$work/$name" $(pkg-config --libs jansson) || { failed=$((failed + 1)); continue; }
  "$work/$name" >"$work/out"
  status=$?
  cat "$work/out"
  counts=$(sed -n 's/.*: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$work/out")
  : "${counts:=0 0}"
  passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
  # A sanitizer's finding ends the program either before or after the program has printed its count.
  [ $status -ne 0 ] && [ "${counts#* }" -eq 0 ] && failed=$((failed + 1))
done

echo "check-c-plugins: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
