#!/bin/sh
# Compiles every header of include/sluice alone, and the C plugins in Examples/, as C11, C17, C23, C++17 and C++20, with GCC
# and Clang.
# usage: scripts/check-headers.sh
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
checked=0 failed=0

flags="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -Iinclude $(pkg-config --cflags jansson)"

# A missing compiler is a failure, because nothing would be checked with it.
need() { # compiler, its package
  command -v "$1" >/dev/null && return
  failed=$((failed + 1))
  echo "check-headers: $1 is missing; install the package $2" >&2
}

# An older compiler knows C23 by the name of its draft.
c23() {
  if echo | "$1" -std=c23 -fsyntax-only -x c - 2>/dev/null; then echo c23; else echo c2x; fi
}

check() { # what is compiled, its file, compiler, language, standard
  checked=$((checked + 1))
  # shellcheck disable=SC2086 # the flags are words
  "$3" -std="$5" $flags -x "$4" "$2" || {
    failed=$((failed + 1))
    echo "check-headers: $1 does not compile alone as $5 with $3" >&2
  }
}

check_all() { # what is compiled, its file
  for compiler in cc clang; do
    for standard in c11 c17 "$(c23 $compiler)"; do check "$1" "$2" $compiler c "$standard"; done
  done
  for compiler in c++ clang++; do
    for standard in c++17 c++20; do check "$1" "$2" $compiler c++ $standard; done
  done
}

need cc gcc
need c++ g++
need clang clang
need clang++ clang
[ $failed -eq 0 ] || exit 1

# The header is included and not compiled directly, because clang would report its inline functions as unused.
for header in include/sluice/*.h include/sluice/draft/*.h; do
  name=${header#include/}
  printf '#include <%s>\n#include <%s>\n' "$name" "$name" >"$work/alone"
  check_all "$name" "$work/alone"
done
for example in Examples/*/*.c; do check_all "$example" "$example"; done

# Drafts are included one by one. Every other header must be included by `sluice.h`, or plugins would not get it.
for header in include/sluice/*.h; do
  name=sluice/$(basename "$header")
  [ "$name" = sluice/sluice.h ] && continue
  checked=$((checked + 1))
  grep -q "#include <$name>" include/sluice/sluice.h || {
    failed=$((failed + 1))
    echo "check-headers: include/sluice/sluice.h does not include $name" >&2
  }
done

echo "check-headers: $((checked - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
