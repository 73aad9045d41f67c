#!/bin/sh
# Checks the examples in the documentation. A block marked ```c is compiled alone, against include/, as C11, C17, C23,
# C++17 and C++20, with GCC and Clang; if the fence names a file, the block must be equal to that file. A block marked
# ```swift FILE must occur in that file of Examples/ or plugins/, line for line except for indentation and comments;
# scripts/check-examples.sh builds those files. A block marked ```swift elsewhere uses a package that Sluice does not
# depend on, and is not checked. A link to a file of the repository must lead to an existing file.
# usage: scripts/check-docs.sh [FILE…]
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
: "${CC:=cc}" "${CXX:=c++}"
passed=0 failed=0

[ $# -gt 0 ] || set -- ./*.md docs/*.md docs/*/*.md plugins/*/README.md Sources/*/*/*.docc/*.md Sources/*/README.md Examples/README.md Examples/*/README.md Benchmarks/README.md Fuzzers/README.md
flags="-Wall -Wextra -Wpedantic -Wconversion -Werror -Wno-unused-function -fsyntax-only -Iinclude $(pkg-config --cflags jansson)"

fail() {
  failed=$((failed + 1))
  echo "check-docs: $*" >&2
}

# Writes the blocks of a file to $work/LINE.c and $work/LINE.swift, where LINE is the first line of the block. The first
# line of the written file names the source file, or is empty.
extract() {
  awk -v dir="$work" '
    /^```c( |$)/ { inside = 1; out = dir "/" (NR + 1) ".c"; print $2 > out; next }
    /^```swift/ { inside = 1; out = dir "/" (NR + 1) ".swift"; print $2 > out; next }
    /^```$/ && inside { inside = 0; close(out); next }
    inside { print > out }
  ' "$1"
}

compile() { # compiler, language, standard
  # shellcheck disable=SC2086 # the flags are words
  if $1 -std="$3" $flags -x "$2" "$work/block"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

check_c() { # document, block
  # With this line, the compiler reports the line of the document.
  { echo "#line $(basename "$2" .c) \"$1\""; sed 1d "$2"; } >"$work/block"
  # Every compiler that supports C23 also accepts c2x, the name of its draft.
  for standard in c11 c17 c2x; do compile "$CC" c $standard; compile clang c $standard; done
  for standard in c++17 c++20; do compile "$CXX" c++ $standard; compile clang++ c++ $standard; done
  source=$(head -n 1 "$2")
  [ -n "$source" ] || return
  if sed 1d "$2" | cmp -s - "$source"; then passed=$((passed + 1)); else fail "$1:$(basename "$2" .c): this block is not $source"; fi
}

check_swift() { # document, block
  place=$1:$(basename "$2" .swift)
  source=$(head -n 1 "$2")
  # scripts/check-outside-package.sh compiles these examples.
  [ "$1$source" != docs/swift-plugins.md ] || return
  case $source in
    Examples/*.swift | plugins/*.swift) ;;
    elsewhere) return ;;
    *) fail "$place: a Swift block says which file of Examples/ or plugins/ it is from, as in \`\`\`swift Examples/…"; return ;;
  esac
  [ -f "$source" ] || { fail "$place: there is no $source"; return; }
  if awk '
    { gsub(/^[ \t]+|[ \t]+$/, "") }
    FNR == NR && FNR == 1 { next }
    /^\/\// || !length { next }
    FNR == NR { block = block $0 "\n"; next }
    { file = file $0 "\n" }
    END { exit index("\n" file, "\n" block) == 0 }
  ' "$2" "$source"; then passed=$((passed + 1)); else fail "$place: these lines are not in $source"; fi
}

# Checks links without a scheme, which are relative to the folder of the document.
check_links() {
  awk '/^```/ { inside = !inside } !inside' "$1" | grep -o ']([^)# ]*' | sed 's/^](//' | grep -v : | grep . | sort -u >"$work/links"
  while read -r link; do
    if [ -e "$(dirname "$1")/$link" ]; then passed=$((passed + 1)); else fail "$1: there is no $link"; fi
  done <"$work/links"
}

for document; do
  [ -f "$document" ] || continue
  rm -f "$work"/*.c "$work"/*.swift
  extract "$document"
  for block in "$work"/*.c; do [ ! -f "$block" ] || check_c "$document" "$block"; done
  for block in "$work"/*.swift; do [ ! -f "$block" ] || check_swift "$document" "$block"; done
  check_links "$document"
done

echo "check-docs: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
