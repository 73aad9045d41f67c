#!/bin/sh
# Compares the headers of the ABI with the golden file of revision 1. Everything that the file lists must still exist
# with the same value, type and place, and the file must list everything that exists. Also compiles the asserted sizes
# and offsets for arm64, and checks that they cover every struct, member, enumerator and numeric constant.
#
# Before that, the script checks itself: with one line of each kind changed or missing, the comparisons must report
# exactly that line.
# usage: scripts/check-abi.sh [--print]     --print writes what the headers say now
set -u
export LC_ALL=C
cd "$(dirname "$0")/.."
golden=Sources/Plugins/CSluice/abi-1.txt
layout=Sources/Plugins/CSluice/abi_layout.c
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# Prints one line for each fact that is compiled into a plugin: `struct NAME MEMBER-NUMBER DECLARATION`, `enum NAME =
# VALUE`, `define NAME VALUE` for constants, and other declarations. Inline functions and macros with arguments are left
# out.
facts() { # headers
  for header; do
    # Removes comments, and leaves macros unexpanded.
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

facts include/sluice/*.h >"$work/now" || exit 1
[ -s "$work/now" ] || { echo "check-abi: no facts were found in include/sluice" >&2; exit 1; }
if [ "${1:-}" = --print ]; then
  cat "$work/now"
  exit
fi

# Prints `-FACT` for each fact that the headers lack, and `+FACT` for each fact that the golden file lacks.
compare() { # golden file
  grep -v '^//' "$1" | sort -u >"$work/golden"
  comm -23 "$work/golden" "$work/now" | sed 's/^/-/'
  comm -13 "$work/golden" "$work/now" | sed 's/^/+/'
}

# Prints the missing assertion for each struct, member, enumerator and numeric constant that the layout does not cover.
uncovered() { # facts, layout
  awk '
    function want(assertion) { if (!index(layout, assertion) && !(assertion in told)) { told[assertion]; print assertion "…)" } }
    FNR == NR { layout = layout $0 "\n"; next }
    $1 == "enum" || ($1 == "define" && $3 ~ /^[0-9]/) { want("SLUICE_VALUE(" $2 ", ") }
    $1 == "struct" {
      want("SLUICE_SIZE(" $2 ", ")
      members = $0; sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", members)
      # The name of a function pointer is in parentheses; any other name is at the end. Several names can share a type.
      if (match(members, /\(\*[a-z0-9_]+\)/)) members = substr(members, RSTART + 2, RLENGTH - 3)
      count = split(members, names, ",")
      for (i = 1; i <= count; i++) {
        sub(/\[.*/, "", names[i]); sub(/.*[ *]/, "", names[i])
        want("SLUICE_OFFSET(" $2 ", " names[i] ", ")
      }
    }' "$2" "$1"
}

# The script's check of itself.
expect() { # what was done, the report that is expected, the report
  [ "$2" = "$3" ] && return
  printf 'check-abi: the self-check fails: %s: expected\n%s\nfound\n%s\n' "$1" "$2" "$3" >&2
  exit 1
}
expect "the facts themselves" "" "$(compare "$work/now")"
for kind in struct enum define declare; do
  fact=$(grep "^$kind " "$work/now" | sed -n 2p)
  grep -vxF -- "$fact" "$work/now" >"$work/planted"
  expect "without \"$fact\"" "+$fact" "$(compare "$work/planted")"
  echo "$fact changed" >>"$work/planted"
  expect "\"$fact\" changed" "-$fact changed
+$fact" "$(compare "$work/planted")"
done
for assertion in "SLUICE_SIZE(sluice_context, " "SLUICE_OFFSET(sluice_exchange_api, may_call, " "SLUICE_OFFSET(sluice_timings, wait_ns, " \
  "SLUICE_OFFSET(sluice_note, version, " "SLUICE_VALUE(SLUICE_LOG_INFO, " "SLUICE_VALUE(SLUICE_CONTEXT_SIZE_1, "; do
  grep -vF -- "$assertion" $layout >"$work/planted"
  uncovered "$work/now" $layout >"$work/before"
  expect "a layout without $assertion" "$assertion…)" "$(uncovered "$work/now" "$work/planted" | grep -vxF -f "$work/before")"
done

failed=0
compare "$golden" >"$work/differences"
if grep -q '^-' "$work/differences"; then
  failed=1
  echo "check-abi: the headers no longer say what revision 1 says ($golden):" >&2
  sed -n 's/^-/  /p' "$work/differences" >&2
fi
if grep -q '^+' "$work/differences"; then
  failed=1
  echo "check-abi: $golden lacks what the headers say; if that is wanted, add these lines:" >&2
  sed -n 's/^+/  /p' "$work/differences" >&2
fi

facts include/sluice/*.h include/sluice/draft/*.h >"$work/all"
uncovered "$work/all" $layout >"$work/uncovered"
if [ -s "$work/uncovered" ]; then
  failed=1
  echo "check-abi: $layout does not assert:" >&2
  sed 's/^/  /' "$work/uncovered" >&2
fi

arm=aarch64-linux-gnu-gcc
if command -v $arm >/dev/null; then
  # The headers of jansson are the same for every machine, but are in a folder of this machine's headers.
  for header in jansson.h jansson_config.h; do
    file=$(echo "#include <jansson.h>" | ${CC:-cc} $(pkg-config --cflags jansson) -M -x c - | tr ' \\' '\n\n' | grep "/$header\$")
    cp "$file" "$work/"
  done
  $arm -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -I"$work" -c $layout -o "$work/layout.o" || {
    failed=1
    echo "check-abi: the ABI has another layout on arm64" >&2
  }
else
  failed=1
  echo "check-abi: $arm is missing; install the package gcc-aarch64-linux-gnu" >&2
fi

[ $failed -eq 0 ] && echo "check-abi: $(wc -l <"$work/golden") facts of revision 1 hold, and the layout is the same on arm64"
exit $failed
