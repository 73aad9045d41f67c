#!/bin/sh
# Installs the release build into a folder in the form for packages: with the libraries of Swift's runtime that it
# needs, without debug information, and without paths of this machine.
# usage: scripts/stage-release.sh FOLDER PREFIX [VARIABLE=VALUE…]     the variables are for make install
#        scripts/stage-release.sh --tools     only finds out whether the tools are there
set -eu
cd "$(dirname "$0")/.."

fail() {
  echo "stage-release: $*" >&2
  exit 1
}

for tool in patchelf readelf strip ldd perl; do
  command -v $tool >/dev/null || fail "there is no $tool; on Debian, install patchelf, binutils and perl"
done
[ "$1" != --tools ] || exit 0

folder=$1 prefix=$2
shift 2
built=.build/release
plugins=$folder$prefix/lib/sluice/plugins attached=$folder$prefix/lib/sluice runtime=$folder$prefix/lib/sluice/swift command=$folder$prefix/bin/sluice
[ -x $built/sluice ] || fail "$built/sluice is not there; run make build first"

make -s install DESTDIR="$folder" PREFIX="$prefix" CONFIGURATION=release "$@"

# The libraries of the runtime that a file needs, directly or through other libraries.
toolchain=$(ldd $built/sluice | awk '$1 == "libswiftCore.so" { print $3 }')
[ -f "$toolchain" ] || fail "libswiftCore.so, which $built/sluice needs, is not found"
toolchain=$(dirname "$(realpath "$toolchain")")
needs() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r name; do [ ! -f "$toolchain/$name" ] || echo "$name"; done; }
install -d -m 755 "$runtime"
queue=$(needs $built/sluice)
while [ -n "$queue" ]; do
  next=
  for name in $queue; do
    [ ! -f "$runtime/$name" ] || continue
    install -m 644 "$toolchain/$name" "$runtime"
    next="$next $(needs "$toolchain/$name")"
  done
  queue=$next
done

# The engine loads a plugin from a private copy in another folder, where $ORIGIN does not lead to the runtime. So a
# plugin finds only libraries that the command has loaded.
for plugin in "$plugins"/*.so; do
  for name in $(needs "$plugin"); do
    [ -f "$runtime/$name" ] || fail "$plugin needs $name of Swift's runtime, which the command does not load"
  done
done

strip --strip-unneeded "$command" "$attached"/*.so
# The names of functions are kept, because crash reports show them.
strip --strip-debug "$plugins"/*.so
# First sets another path, because removing a path leaves its text in the file.
remove_rpath() {
  patchelf --set-rpath / "$1"
  patchelf --remove-rpath "$1"
}
# The loader finds $ORIGIN of a program through /proc. Without /proc, it takes the fixed folder.
patchelf --set-rpath "\$ORIGIN/../lib/sluice/swift${prefix:+:$prefix/lib/sluice/swift}" "$command"
for plugin in "$plugins"/*.so; do
  if [ -n "$(needs "$plugin")" ]; then patchelf --set-rpath '$ORIGIN/../swift' "$plugin"; else remove_rpath "$plugin"; fi
done
# These libraries are loaded into other programs, and must not need the runtime.
for library in "$attached"/*.so; do
  [ -z "$(needs "$library")" ] || fail "$library needs $(needs "$library") of Swift's runtime"
  remove_rpath "$library"
done

# The linker writes the path of its output into each library, as the name of a symbol version that nobody uses. The
# replacement has the same number of bytes, so that nothing moves.
FOLDER=$(realpath $built)/
export FOLDER
perl -0777 -pi -e 's|\Q$ENV{FOLDER}\E|"/" x length $ENV{FOLDER}|ge' "$command" "$plugins"/*.so "$attached"/*.so
for file in "$command" "$plugins"/*.so "$attached"/*.so; do
  for path in "$PWD" "$toolchain"; do
    if LC_ALL=C grep -qaF "$path" "$file"; then fail "$file contains a path of this machine: $path"; fi
  done
done
