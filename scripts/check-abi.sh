#!/bin/sh
# Compares the headers of the ABI with the golden file of revision 1: whatever it lists must still be there, with the same
# value, type and place. Also compiles the asserted sizes and offsets for arm64.
# usage: scripts/check-abi.sh [--print]     --print writes what the headers say now
set -u
export LC_ALL=C
cd "$(dirname "$0")/.."
golden=Sources/CSluice/abi-1.txt
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# One line for each fact that a compiled plugin contains: `struct NAME MEMBER-NUMBER DECLARATION`, `enum NAME = VALUE`,
# `define NAME VALUE` for constants, and other declarations. Inline functions and macros with arguments are not compiled in.
facts() {
  for header in include/sluice/*.h; do
    # Without comments, and with macros as they are written.
    ${CC:-cc} -std=c11 -fpreprocessed -dD -E -P "$header" 2>/dev/null | awk '
      function squeeze(text) { gsub(/[ \t\n]+/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text); return text }
      function structure(name, body,   count, members, i, member, number) {
        count = split(body, members, ";")
        for (i = 1; i <= count; i++) {
          member = squeeze(members[i])
          if (member != "") print "struct", name, ++number, member
        }
      }
      function enumeration(body,   count, names, i, name) {
        count = split(body, names, ",")
        for (i = 1; i <= count; i++) { name = squeeze(names[i]); if (name != "") print "enum", name }
      }
      function declare(text,   open, close_at, head, body, tail) {
        text = squeeze(text)
        if (text == "") return
        open = index(text, "{")
        if (text ~ /static inline/) return
        sub(/^SLUICE_(BEGIN|END)_DECLS /, "", text)
        if (!open) { print "declare", text; return }
        close_at = length(text); while (substr(text, close_at, 1) != "}") close_at--
        head = squeeze(substr(text, 1, open - 1)); body = substr(text, open + 1, close_at - open - 1); tail = squeeze(substr(text, close_at + 1))
        if (head ~ /enum$/) enumeration(body)
        else if (head ~ /struct/) { if (tail == "") { tail = head; sub(/.*struct /, "", tail) } structure(tail, body) }
        else print "declare", head
      }
      continued { continued = /\\$/; next }
      /^#/ {
        if ($0 ~ /^#define [A-Z_0-9]+ ("[^"]*"|[0-9]+u?)$/) print "define", squeeze(substr($0, 9))
        continued = /\\$/
        next
      }
      {
        text = text " " $0
        line = $0; depth += gsub(/{/, "{", line); depth -= gsub(/}/, "}", line)
        if (depth == 0 && $0 ~ /[;}][ \t]*$/) {
          if ($0 ~ /;[ \t]*$/) sub(/;[ \t]*$/, "", text)
          declare(text); text = ""
        }
      }'
  done | sort -u
}

facts >"$work/now" || exit 1
[ -s "$work/now" ] || { echo "check-abi: no facts were found in include/sluice" >&2; exit 1; }
if [ "${1:-}" = --print ]; then
  cat "$work/now"
  exit
fi

failed=0
grep -v '^//' "$golden" | sort -u >"$work/golden"
comm -23 "$work/golden" "$work/now" >"$work/lost"
if [ -s "$work/lost" ]; then
  failed=1
  echo "check-abi: the headers no longer say what revision 1 says ($golden):" >&2
  sed 's/^/  /' "$work/lost" >&2
fi

arm=aarch64-linux-gnu-gcc
if command -v $arm >/dev/null; then
  # The headers of jansson are the same for every machine, but lie beside those of this one.
  for header in jansson.h jansson_config.h; do
    file=$(echo "#include <jansson.h>" | ${CC:-cc} $(pkg-config --cflags jansson) -M -x c - | tr ' \\' '\n\n' | grep "/$header\$")
    cp "$file" "$work/"
  done
  $arm -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -I"$work" -c Sources/CSluice/abi_layout.c -o "$work/layout.o" || {
    failed=1
    echo "check-abi: the ABI has another layout on arm64" >&2
  }
else
  failed=1
  echo "check-abi: $arm is missing; install the package gcc-aarch64-linux-gnu" >&2
fi

[ $failed -eq 0 ] && echo "check-abi: $(wc -l <"$work/golden") facts of revision 1 hold, and the layout is the same on arm64"
exit $failed
