#!/bin/sh
# Runs every shell block of the documents with the debug build, and compares its output with the output that the
# document shows.
#
# A document is a session: its ```sh blocks run one after the other, in one shell and one new folder. A ```text or
# ```json block that follows a ```sh block, before the next ```sh block or heading, is the expected output, including
# messages. Without such a block, there must be no output. A block that fails ends the session, so an example shows a
# status other than 0 with `|| echo "status $?"`. After a command that ends with `&`, the script waits until the command
# listens on a socket. Text that changes between runs (ids, dates, durations, hashes) is compared only by its form. A
# fence must say what the block contains. Each `sluice …` in the text and the headings must occur in a block, up to its
# first placeholder.
#
# Blocks marked ```sh measurement are not run, because they need a release build, minutes or an installed system. A block marked
# ```text picture is a drawing and not an output.
# usage: scripts/check-commands.sh [FILE…]      (default README.md, docs/command/*.md, docs/updates.md, docs/production.md, docs/upgrading.md,
#        docs/progressive-delivery.md and, if gdb and valgrind are there, docs/debugging.md)
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
session=
cleanup() {
  # The session runs in its own process group, with everything that it has started.
  [ -z "$session" ] || kill -- "-$session" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
failed=0

fail() {
  echo "check-commands: $*" >&2
  failed=$((failed + 1))
}

# The servers are on this machine, so no proxy is used. Sockets of other engines must not be found.
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1 http_proxy= https_proxy= HTTPS_PROXY= all_proxy= ALL_PROXY= XDG_RUNTIME_DIR="$work/run" XDG_CACHE_HOME="$work/cache" LC_ALL=C.UTF-8
unset TRACEPARENT TRACESTATE BAGGAGE OTEL_PROPAGATORS OTEL_TRACES_SAMPLER OTEL_TRACES_SAMPLER_ARG OTEL_SDK_DISABLED
export PATH="$repository/.build/debug:$PATH"
umask 022

# Free ports in place of 8080 and 8081. They also have four digits, so that the lengths of texts stay the same. They are
# below the ports that the kernel gives to clients, so that no client takes them before a server listens.
is_taken() { grep -qi ": [0-9A-F]*:$(printf %04X "$1") [0-9A-F]*:0000 0A" /proc/net/tcp; }
first=$((4000 + $$ % 2500 * 2))
while is_taken "$first" || is_taken $((first + 1)); do first=$((first + 2)); done
second=$((first + 1))

# Adapts a block to this run: free ports, the debug build, less input, and a wait for each server that it starts.
adapt() {
  sed -E -e "s/\b8080\b/$first/g; s/\b8081\b/$second/g" -e 's|\.build/release|.build/debug|g' \
    -e 's|^make deps build$|make -n deps build >/dev/null|' -e 's/^seq 100000 /seq 1000 /' \
    -e "s|^/usr/bin/time -f '%e s, %M KB' |measured |" \
    -e 's/^.*>([^ &]+) &( *#.*)?$/&\nready $! \1/; t' -e 's|^.* &( *#.*)?$|&\nready $! /dev/null|'
}

# Replaces everything that differs between runs and machines.
mask() {
  sed -E "
    # Replaces the ports and folders of this run by those in the documents.
    s/\b$first\b/8080/g; s/\b$second\b/8081/g
    s|$folder|/home/me|g; s|$XDG_RUNTIME_DIR|/run/user/1000|g; s|/[0-9]+\.sock|/PID.sock|
    s/\bprocess [0-9]+/process PID/
    # Times and amounts, in documents and in tables.
    s/(\"[A-Za-z0-9]+(Ns|Ms)\": ?)[0-9.]+/\1AMOUNT/g
    s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/DATE/g; s/[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9 :]+ GMT/DATE/g
    s/^[0-9]{2}:[0-9]{2}:[0-9]{2}\b/TIME/
    s/\b[0-9][0-9.,]* (ns|µs|ms|s|kB|KB|MiB|GB|bytes)\b/AMOUNT/g; s|\b[0-9,]+/s\b|RATE|g
    s/\|[# ]*\|/BAR/; s/^descriptors .*/descriptors/
    # The counts that uniq -c prints, for instance of the answers before and after a swap.
    s/^ +[0-9]+ ([a-z-]+)$/COUNT \1/
    # Requests that have failed until the engine returns to a release: the engine compares releases at intervals.
    s/^[0-9]{3} failed$/COUNT failed/; s/after [0-9]{3} transactions$/after COUNT transactions/
    s/[0-9.]+ (faults and violations per)/COUNT \1/
    s/failed [0-9,]+ of [0-9,]+ against 0 of [0-9,]+, p [=<] [0-9e-]+/failed COUNTS/
    s/different in [0-9,]+ of [0-9,]+ samples/different in COUNTS/; s/same, [0-9,]+ different, 0 not compared, [0-9,]+ dropped/same, COUNTS/
    # Ids and hashes.
    s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/g; s/[0-9a-f]{32}-[0-9a-f]{16}/ID/g; s/\b[0-9a-f]{12,}\b/HASH/g
    # Text that depends on the machine, and on the versions of libraries.
    s/^(OpenSSL|nghttp2|jansson|libmicrohttpd) [0-9].*/\1/; s/^( *machine ).*/\1NAME/
    s/Couldn't connect to server/Could not connect to server/
    # The width of a column depends on its content; lines of HTTP end with CR.
    s/\r$//; s/  +/ /g; s/ $//"
}

# Writes the blocks to LINE.sh and LINE.expected, where LINE is the first line of the block, or reports an invalid line.
extract() { # document
  awk -v document="$1" '
    function wrong(text) { print "check-commands: " document ":" NR ": " text | "cat >&2"; status = 1 }
    /^ *```/ {
      inside = !inside
      if (!inside) { if (out) close(out); next }
      out = ""
      if ($0 == "```sh measurement") { sh = 0; print document ":" NR + 1 >"measurements" }
      else if ($0 == "```text picture") { }
      else if ($0 ~ /^```sh( |$)/) { sh = NR + 1; out = sh ".sh"; printf "" > out; print sh }
      else if ($0 ~ /^```(text|json)( |$)/ && sh) { out = sh ".expected"; printf "" > out; sh = 0 }
      else if ($0 ~ /^```text( |$)/) wrong("this output follows no block of commands")
      else if ($0 !~ /^```(json|c|swift|ini|conf)( |$)/) wrong("expected ```sh, ```text, ```json, ```c, ```swift, ```ini or ```conf, found " $0)
      next
    }
    inside { if (out) print > out; next }
    /^#/ { sh = 0 }
    END { exit status }' "$repository/$1"
}

# The functions of a session.
cat >"$work/functions" <<'FUNCTIONS'
# Debian has the program in a separate package.
measured() {
  if [ -x /usr/bin/time ]; then /usr/bin/time -f '%e s, %M KB' "$@"; else "$@" && echo "0 s, 0 KB" >&2; fi
}

# Waits until a process has a socket that listens, and has written something to the file of its output.
ready() { # process, file
  tries=0
  until { [ ! -f "$2" ] || [ -s "$2" ]; } && ls -l "/proc/$1/fd" 2>/dev/null | sed -n 's/.*socket:\[\(.*\)\]$/\1/p' | grep -qxF "$(
    awk '$4 == "0A" { print $10 } $4 == "00010000" { print $7 }' /proc/net/tcp /proc/net/unix)"; do
    tries=$((tries + 1))
    [ "$tries" -lt 400 ] && kill -0 "$1" 2>/dev/null || { echo "check-commands: the command with & does not listen"; exit 1; }
    sleep 0.05
  done
}
FUNCTIONS

# Runs the blocks of a document, and compares what they print.
check_blocks() { # document
  name=$(echo "${1%.md}" | tr / -)
  folder=$work/$name blocks=$work/blocks/$name
  mkdir -p "$folder" "$blocks"
  for entry in .build Makefile include Examples; do ln -s "$repository/$entry" "$folder/$entry"; done
  (cd "$blocks" && extract "$1" >lines) || { failed=$((failed + 1)); return; }
  [ -s "$blocks/lines" ] || fail "$1: no \`\`\`sh block"
  {
    cat "$work/functions"
    while read -r line; do
      adapt <"$blocks/$line.sh" >"$blocks/$line.run"
      echo "echo $line >'$blocks/last'; exec >'$blocks/$line.printed' 2>&1; . '$blocks/$line.run'"
    done <"$blocks/lines"
    echo "echo end >'$blocks/last'"
  } >"$blocks/session"
  (cd "$folder" && exec timeout 120 sh -eu "$blocks/session") </dev/null 2>/dev/null &
  session=$!
  wait "$session" || true
  last=$(cat "$blocks/last")
  kill -- "-$session" 2>/dev/null || true
  session=
  while read -r line; do
    [ -f "$blocks/$line.expected" ] || : >"$blocks/$line.expected"
    mask <"$blocks/$line.expected" >"$blocks/$line.shown"
    [ ! -f "$blocks/$line.printed" ] || mask <"$blocks/$line.printed" >"$blocks/$line.found"
    if [ "$line" = "$last" ]; then
      fail "$1:$line: a command of this block fails, or does not end; it has printed:"
      cat "$blocks/$line.found" >&2
      return
    fi
    if diff -u -L "$1:$line shows" -L found "$blocks/$line.shown" "$blocks/$line.found" >&2; then
      passed=$((passed + 1))
    else
      fail "$1:$line: the commands of this block print something other than the document shows"
    fi
  done <"$blocks/lines"
}

# Checks that each `sluice …` in the text and the headings occurs in a block, up to its first placeholder.
check_text() { # document
  awk '/^```/ { inside = !inside } { print inside ? "" : $0 }' "$1" |
    grep -noE '`sluice [^`]*`|^#+ sluice .*' | sed -E 's/`//g; s/:#+ /:/; s/ *(\[|…|[A-Z]{2}).*//' >"$work/names"
  while IFS=: read -r line name; do
    grep -qF -- "$name" "$work"/blocks/*/*.sh || fail "$1:$line: no block runs \"$name\""
  done <"$work/names"
}

if [ $# -eq 0 ]; then
  set -- README.md docs/command/*.md docs/updates.md docs/production.md docs/upgrading.md docs/progressive-delivery.md
  if command -v gdb >/dev/null && command -v valgrind >/dev/null; then
    set -- "$@" docs/debugging.md
  else
    echo "check-commands: docs/debugging.md: not run, because there is no gdb or no valgrind"
  fi
fi
cd "$repository"
mkdir -m 700 "$XDG_RUNTIME_DIR"
passed=0
for document; do check_blocks "$document"; done
for document; do check_text "$document"; done
cat "$work"/blocks/*/measurements 2>/dev/null | sed 's/.*/check-commands: &: not run, because it needs a release build, minutes or an installed system/'
echo "check-commands: $passed blocks passed, $failed failures"
[ "$failed" -eq 0 ]
