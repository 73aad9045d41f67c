#!/bin/sh
# Checks that the C files of a target do not use each other's functions and variables in a circle. Compiles each file
# and compares what the objects define with what they use.
# usage: scripts/check-c-circles.sh
set -u
cd "$(dirname "$0")/.."
CC=${CC:-clang}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
checked=0 failed=0

# Functions of libc that CAttach defines too. A file that calls one of them calls it as libc's function: the loader
# decides which definition it gets.
loaders='dlopen dlmopen dlsym dlvsym'

complain() {
  failed=$((failed + 1))
  echo "check-c-circles: $*" >&2
}

command -v "$CC" >/dev/null || { echo "check-c-circles: $CC is missing; install the package clang" >&2; exit 1; }
command -v nm >/dev/null || { echo "check-c-circles: nm is missing; install the package binutils" >&2; exit 1; }

includes="-Iinclude $(pkg-config --cflags jansson libcurl)"
for folder in Sources/*/*/include; do includes="$includes -I$folder"; done

# Prints "FILE -> FILE: NAME" for each use that is part of a circle of the C files in a folder. Fails if a file does not
# compile.
c_circles() { # folder
  rm -rf "$work/objects" && mkdir "$work/objects" || return 1
  for file in "$1"/*.c; do
    # shellcheck disable=SC2086 # the flags are words
    "$CC" -std=c11 -O0 -w -c $includes -I"$1/include" -I"$1" "$file" -o "$work/objects/$(basename "$file" .c).o" || return 1
  done
  for object in "$work"/objects/*.o; do
    nm --extern-only --format=posix "$object" >"$work/names" || return 1
    sed "s|^|$(basename "$object" .o).c |" "$work/names"
  done | awk -v loaders="$loaders" '
    BEGIN { count = split(loaders, names, " "); for (i = 1; i <= count; i++) skipped[names[i]] }
    $2 in skipped { next }
    $3 ~ /^[Uwv]$/ { rows++; user[rows] = $1; used[rows] = $2; next }
    { home[$2] = $1 }
    END {
      for (i = 1; i <= rows; i++) {
        if (!(used[i] in home)) continue
        here = user[i]
        there = home[used[i]]
        if (here == there || (here, there) in use) continue
        use[here, there] = used[i]
        reach[here, there] = 1
        files[here]
        files[there]
      }
      for (k in files) for (i in files) if ((i, k) in reach) for (j in files) if ((k, j) in reach) reach[i, j] = 1
      for (pair in use) {
        split(pair, ends, SUBSEP)
        if ((ends[2], ends[1]) in reach) print ends[1] " -> " ends[2] ": " use[pair]
      }
    }' | sort
}

for folder in Sources/*/* plugins/* Tests/Kit/* Benchmarks/Sources/*; do
  [ "$(find "$folder" -maxdepth 1 -name '*.c' | wc -l)" -gt 1 ] || continue
  checked=$((checked + 1))
  circles=$(c_circles "$folder") || { complain "$folder does not compile"; continue; }
  [ -z "$circles" ] || complain "files of $folder use each other; move a function, or pass it as a parameter:
$circles"
done
[ "$checked" -gt 0 ] || complain "no folder with C files was found"

# Checks the check: it finds a circle of three files, and ignores a use in one direction and the functions of libc.
mkdir "$work/target"
echo 'int low(void) { return 1; } void *dlopen(const char *n, int f) { return 0; }' >"$work/target/low.c"
echo 'int low(void); int middle(void) { return low(); }' >"$work/target/middle.c"
echo 'int middle(void); void *dlopen(const char *, int); int high(void) { return dlopen(0, 0) ? 0 : middle(); }' >"$work/target/high.c"
echo 'void *dlopen(const char *, int); void *opened(void) { return dlopen(0, 0); }' >>"$work/target/middle.c"
echo 'void *opened(void); void *again(void) { return 0; }' >>"$work/target/low.c"
[ -z "$(c_circles "$work/target")" ] || complain "the check reports a circle where there is none"
echo 'int high(void); int lower(void) { return high(); }' >>"$work/target/low.c"
[ "$(c_circles "$work/target" | wc -l)" -eq 3 ] || complain "the check does not report a circle"

echo "check-c-circles: $((checked - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
