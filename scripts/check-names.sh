#!/bin/sh
# Checks that the names in the documents exist: names in backticks, in a link, or in a ```sh block.
#
#   file      a path is relative to the repository, to its document, or the end of a path in the repository
#   heading   the anchor of a link
#   module    `Sluice…` and `C…` are folders of a wing in Sources/ or Tests/, of Examples/, or types
#   symbol    types in CamelCase, `sluice_…` and `SLUICE_…` occur in the code
#   command   `sluice X` has a section in the man page, which a test compares with the command
#   flag      `--x` and `-x` are options in the man page: after `sluice X`, of that command; after a script, of that script
#   key       `retry.budget`, and the first column of a table of keys, are in the schema of the configuration
#   target    `make X` is a target of the Makefile
#
# Before that, the script checks itself: a document with one wrong name of each kind must give exactly these errors.
# usage: scripts/check-names.sh [FILE…]
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# Names of other projects that look like ours.
foreign="symbol TraceIdRatioBased
symbol ProbabilitySampler
symbol StopAllIterationAndWatermark
symbol FileDownloadDelegate
symbol CallerAsyncWriter
symbol AsyncReader
symbol RequestOptions
symbol RedirectionHandler
symbol DeclarativeTLS
symbol DefaultHTTPClient
module CMakeFiles
symbol LimitAS"

# Prints everything that exists, one fact per line: kind, tab, name.
facts() {
  # Leaves out build outputs and the files of git.
  find . \( -name .build -o -name .git \) -prune -o -print | sed -n 's|^\./|file	|p'
  find Sources/* Tests/* Examples/*/Sources Benchmarks/Sources Fuzzers/Sources plugins -maxdepth 1 -mindepth 1 -type d |
    sed 's|.*/|module	|'
  sed -n 's/^\([a-z0-9-]*\):.*/target	\1/p' Makefile
  # Products of the package.
  sed -n 's/^.* name: "\(Sluice[A-Za-z]*\)".*/module	\1/p' Package.swift
  # Alerts of Prometheus.
  sed -n 's/^ *- alert: /module	/p' share/prometheus/*.yml
  # .SS "sluice ctl status" begins a command; \fB\-c\fR, \fB\-\-config\fR is an option of that command.
  awk '
    /^\.SS "sluice / { gsub(/^\.SS "sluice |"$/, ""); command = $0; print "command\t" command; next }
    /^\.S/ { command = "" }
    command && /^\\fB\\-/ {
      gsub(/\\f[BRI]/, ""); gsub(/\\-/, "-"); gsub(/[],[]/, " ")
      for (i = 1; i <= NF; i++) if ($i ~ /^-/) print "flag\t" command " " $i
    }' share/man/man1/sluice.1
  grep -oE -e '--[a-z][a-z0-9-]+' scripts/*.sh scripts/*.py | sed 's/^/flag	/; s/:/ /'
  # The options of curl that the documentation names.
  grep -ohE '"[A-Za-z0-9.:-]+"' Sources/Command/SluiceCommand/Send/Curl/CurlOptions.swift | sed 's/"//g; s/^/option\t--/; p; s/--/-/'
  grep -rohE -e '--[a-z][a-z0-9-]+' Benchmarks/Sources | sed 's/^/flag	sluice-bench /'
  # Pairs of a key and the object that it belongs to: "retry budget".
  awk '
    function owner(   i) {
      for (i = depth - 1; i > 0; i--) if (keys[i] != "" && keys[i] !~ /^(items|anyOf|oneOf|allOf|then|if|properties|definitions)$/) return keys[i]
      return ""
    }
    {
      line = $0
      while (match(line, /"([^"\\]|\\.)*"[ ]*:?|[][{}]/)) {
        token = substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH)
        if (token ~ /^[[{]$/) { depth++; keys[depth] = "" }
        else if (token ~ /^[]}]$/) depth--
        else if (token ~ /:$/) {
          gsub(/[": ]/, "", token); keys[depth] = token
          if (depth > 1 && keys[depth - 1] == "properties") print "key\t" owner() " " token
        }
      }
    }' docs/schema/configuration.schema.json
  find Sources Tests include plugins Examples Benchmarks/Sources Fuzzers/Sources scripts share Package.swift -name .build -prune -o -name check-names.sh -o \
    -type f \( -name '*.swift' -o -name '*.h' -o -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.sh' -o -name '*.json' -o -name '*.in' \) -print |
    xargs grep -ohE '[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|(sluice|SLUICE)_[A-Za-z0-9_]*' | sort -u | sed 's/^/symbol	/'
  grep -rhoE '(struct|class|enum|protocol|actor|typealias) Sluice[A-Z][A-Za-z0-9]*' --include='*.swift' Sources Tests | sed 's/.* /module	/'
  echo "$foreign" | tr ' ' '	'
}

# Prints the anchors of the headings of a document, as hosts of repositories generate them.
headings() {
  awk '
    FNR == 1 { inside = 0 }
    /^ *```/ { inside = !inside }
    inside || !/^#+ / { next }
    {
      text = tolower($0); sub(/^#+ /, "", text)
      while (match(text, /\[[^]]*\]\([^)]*\)/)) {
        link = substr(text, RSTART, RLENGTH); name = link; sub(/\].*/, "", name)
        text = substr(text, 1, RSTART - 1) substr(name, 2) substr(text, RSTART + RLENGTH)
      }
      gsub(/[^a-z0-9 _\200-\377-]/, "", text); gsub(/\342\200./, "", text); gsub(/ /, "-", text)
      key = FILENAME "#" text
      print "heading\t" key (count[key] ? "-" count[key] : "")
      count[key]++
    }' "$@"
}

# Prints DOCUMENT:LINE: unknown KIND "NAME" for each name that is not a fact.
check() { # facts, documents…
  awk -F '\t' '
    function unknown(kind, name) { print FILENAME ":" start ": unknown " kind " \"" name "\""; bad++ }
    function is(kind, name) { checked++; return (kind, name) in fact }

    # Simplifies a path: "a/../b" becomes "b".
    function plain(path) {
      gsub(/\/\.\//, "/", path); sub(/^\.\//, "", path); sub(/\/$/, "", path)
      while (path ~ /(^|\/)[^\/.][^\/]*\/\.\.(\/|$)/) {
        match(path, /(^|\/)[^\/.][^\/]*\/\.\.(\/|$)/)
        path = substr(path, 1, RSTART - 1) (RSTART > 1 ? "/" : "") substr(path, RSTART + RLENGTH)
      }
      sub(/\/$/, "", path)
      return path
    }
    function folder(document) { if (document !~ /\//) return ""; sub(/[^\/]*$/, "", document); return document }
    function matches(pattern,   path) {
      gsub(/[.+]/, "[&]", pattern); gsub(/\*/, "[^/]*", pattern)
      for (path in ending) if (path ~ "^" pattern "$") return 1
      return 0
    }
    function check_file(path,   here) {
      sub(/\/$/, "", path); here = plain(folder(FILENAME) path)
      if (is("file", path) || is("file", here) || path in ending || (path ~ /\*/ && matches(path))) return
      unknown("file", path)
    }
    function check_link(target,   path, anchor) {
      if (target ~ /^[a-z]+:/) return
      path = target; sub(/#.*/, "", path); anchor = target; if (!sub(/^[^#]*#/, "", anchor)) anchor = ""
      path = path == "" ? FILENAME : plain(folder(FILENAME) path)
      if (path != FILENAME && !is("file", path)) { unknown("file", target); return }
      if (anchor != "" && path ~ /\.md$/ && !is("heading", path "#" anchor)) unknown("heading", target)
    }
    function check_make(text,   words, count, i) {
      count = split(text, words, " ")
      for (i = 2; i <= count; i++) {
        if (words[i] == "-C") return
        if (words[i] ~ /^[-#]/) { if (words[i] == "#") return; continue }
        if (words[i] ~ /=/ || words[i] !~ /^[a-z][a-z0-9-]*$/) { if (words[i] ~ /[&|;>]/) return; continue }
        if (!is("target", words[i])) unknown("target", words[i])
      }
    }
    function check_command(text,   words, count, command, i, flag) {
      count = split(text, words, " ")
      if (count < 2 || words[2] !~ /^[a-z]/) return
      command = words[2]; i = 3
      if (command ~ /^[a-z-]+,$/) { sub(/,$/, "", command); if (!is("command", command)) unknown("command", "sluice " command); return }
      if (groups[command] && words[3] ~ /^[a-z]/) { command = command " " words[3]; i = 4 }
      sub(/[,.:]$/, "", command)
      if (!is("command", command) && !(groups[command] && i == 3)) { unknown("command", "sluice " command); return }
      for (; i <= count; i++) {
        if (words[i] == "#") return
        # The words after `--` are the command line of another program.
        if (words[i] == "--") break
        flag = words[i]; gsub(/[][]/, "", flag)
        # One dash can be followed by several letters.
        if (flag !~ /^(-[A-Za-z]|--[a-z][a-z0-9.-]*(=.*)?)$/) continue
        sub(/=.*/, "", flag)
        if (command == "help") continue
        if (!is("flag", command " " flag)) unknown("flag", "sluice " command " " flag)
      }
    }
    function check_flag(text,   flag) {
      flag = text; sub(/[ =\[].*/, "", flag)
      if (flag !~ /^(-[A-Za-z]|--[a-z][a-z0-9.-]*)$/) return
      if (is("option", flag) || (FILENAME ~ /^Benchmarks\// && is("flag", "sluice-bench " flag))) return
      unknown("flag", flag)
    }
    function check_program(program, text,   words, count, i, flag) {
      count = split(text, words, " ")
      for (i = 2; i <= count; i++) {
        flag = words[i]; sub(/=.*/, "", flag)
        if (flag ~ /^--[a-z]/ && !is("flag", program " " flag)) unknown("flag", program " " flag)
      }
    }
    function check_key(text,   parts, count, i) {
      count = split(text, parts, ".")
      if (count == 1) { if (!is("name", text)) unknown("key", text); return }
      for (i = 2; i <= count; i++) if (!is("key", parts[i - 1] " " parts[i])) { unknown("key", text); return }
    }
    function check_name(text,   name) {
      name = text; sub(/[(.<: ].*/, "", name)
      if (name ~ /^(Sluice[A-Z]|C[A-Z])[A-Za-z0-9]*$/ && name ~ /[a-z]/) { if (!is("module", name)) unknown("module", name) }
      else if (name ~ /^[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*$/ || name ~ /^(sluice|SLUICE)_[A-Za-z0-9_]+$/) {
        if (name !~ /_$/ && text !~ /…/ && !is("symbol", name)) unknown("symbol", name)
      }
    }
    function check_span(text,   first) {
      first = text; sub(/ .*/, "", first)
      if (text ~ /^(sudo )?make /) { sub(/^sudo /, "", text); check_make(text); return }
      if (text ~ /^sluice /) { check_command(text); return }
      if (text ~ /sluice-bench|^… --/) { check_program("sluice-bench", text); return }
      if (text ~ /^-/) { check_flag(text); return }
      if (first ~ /^[A-Za-z0-9_.+*\/-]+$/ && first !~ /\.(so|o|a|pem)$/ && first !~ /^\/|NAME/) {
        if (first ~ /^(Sources|Tests|Examples|Benchmarks|Fuzzers|docs|scripts|include|plugins|share|\.ci|\.github)\//) {
          check_file(first)
          if (first ~ /^scripts\//) check_program(first, text)
          return
        }
        if (first == text && text ~ /^[^*]+\.(md|sh|swift|h|schema\.json)$/) { check_file(text); return }
      }
      if (text ~ /^(transport|retry|redirects|validate|requestId|redact|swap|limits|watchdog|attach|match)(\.[A-Za-z]+)+$/) { check_key(text); return }
      check_name(text)
    }
    # Each command of a line of a shell block.
    function check_shell(line,   rest, part) {
      if (line ~ /^ *#/) return
      gsub(/[|&;()]+/, "\n", line)
      rest = split(line, parts, "\n")
      for (part = 1; part <= rest; part++) {
        sub(/^ +/, "", parts[part]); sub(/^sudo /, "", parts[part]); sub(/ #.*/, "", parts[part])
        if (parts[part] ~ /^make( |$)/) check_make(parts[part])
        else if (parts[part] ~ /^sluice /) check_command(parts[part])
        else if (match(parts[part], /^scripts\/[A-Za-z0-9_.\/-]+/)) {
          check_file(substr(parts[part], 1, RLENGTH)); check_program(substr(parts[part], 1, RLENGTH), parts[part])
        }
      }
    }
    function check_text(text,   rest, span, at) {
      gsub(/``[^`]*``/, "", text)
      rest = text
      # A table of keys names them in its first column.
      if (keyed && match(rest, /^\| *`[^|]*\|/)) {
        span = substr(rest, 1, RLENGTH)
        while (match(span, /`[^`]*`/)) { check_key(substr(span, RSTART + 1, RLENGTH - 2)); span = substr(span, RSTART + RLENGTH) }
      }
      while (match(rest, /`[^`]*`/)) {
        span = substr(rest, RSTART + 1, RLENGTH - 2); rest = substr(rest, RSTART + RLENGTH)
        check_span(span)
      }
      gsub(/`[^`]*`/, "", text)
      while (match(text, /\]\([^) ]*\)/)) {
        span = substr(text, RSTART + 2, RLENGTH - 3); text = substr(text, RSTART + RLENGTH)
        check_link(span)
      }
    }
    function flush_text() { if (held != "") check_text(held); held = "" }

    !facts_read && FNR == 1 { facts_file = FILENAME; facts_read = 1 }
    FILENAME == facts_file {
      fact[$1, $2] = 1
      if ($1 == "file") { path = $2; ending[path] = 1; while (sub(/^[^\/]*\//, "", path)) ending[path] = 1 }
      if ($1 == "command" && split($2, words, " ") == 2) groups[words[1]] = 1
      if ($1 == "flag" && $2 !~ /^(scripts\/|sluice-bench )/) { sub(/.* /, "", $2); fact["option", $2] = 1 }
      if ($1 == "key") { name = $2; sub(/.* /, "", name); fact["name", name] = 1 }
      next
    }
    FNR == 1 { held = ""; inside = 0; keyed = 0 }
    /^ *```/ {
      flush_text(); start = FNR
      inside = !inside; shell = inside && $0 ~ /^ *```sh( |$)/; here = ""
      next
    }
    inside {
      start = FNR
      if (here != "") { if ($0 == here) here = ""; next }
      if (shell) {
        check_shell($0)
        if (match($0, /<<-?.?[A-Z]+/)) { here = substr($0, RSTART, RLENGTH); gsub(/[^A-Z]/, "", here) }
      }
      next
    }
    /^\| key \|/ { keyed = FILENAME ~ /^docs\/(configuration|headers)\.md$/ || FILENAME ~ /planted/ }
    /^$/ { keyed = 0 }
    # A name can continue on the next line.
    {
      text = held == "" ? $0 : held " " $0
      if (held == "") start = FNR
      ticks = gsub(/`/, "`", text)
      if (ticks % 2 && $0 !~ /^$/ && text !~ /\n/) { held = text; next }
      held = ""
      check_text(text)
    }
    END {
      print checked + 0 >(counted)
      exit bad > 0
    }' counted="$work/count" "$@"
}

facts | sort -u >"$work/facts"

# The check of the script itself: in this document, only the names of the first paragraph exist.
mkdir "$work/planted"
cat >"$work/planted/wrong.md" <<'END'
# A heading

`Sources/Plugins/CSluice`, `SluicePipeline`, `sluice ctl status --json`, `--concurrency`, `retry.budget`, `make test`, `TransactionMachine`,
[here](#a-heading), `scripts/check-abi.sh --print`, `tenant/plugin.c`, `curl --fail-with-body`.

`docs/no-such-file.md`
`SluiceNothing`
`sluice ctl repaint`
`sluice frobnicate`
`sluice ctl
status --yaml`
`--no-such-flag FILE`
`retry.budgets`
`make everything`
`NoSuchMachine`, `SLUICE_NO_SUCH_CONSTANT`
[a](no-such-page.md), [b](#no-such-heading)
`scripts/check-abi.sh --paint`

| key | |
|---|---|
| `retryy` | |

```sh
make demo && sluice run -c x.json --speed 3 | scripts/no-such-script.sh
```
END
headings "$work/planted/wrong.md" >>"$work/facts"
cat >"$work/expected" <<'END'
6: unknown file "docs/no-such-file.md"
7: unknown module "SluiceNothing"
8: unknown command "sluice ctl repaint"
9: unknown command "sluice frobnicate"
10: unknown flag "sluice ctl status --yaml"
12: unknown flag "--no-such-flag"
13: unknown key "retry.budgets"
14: unknown target "everything"
15: unknown symbol "NoSuchMachine"
15: unknown symbol "SLUICE_NO_SUCH_CONSTANT"
16: unknown file "no-such-page.md"
16: unknown heading "#no-such-heading"
17: unknown flag "scripts/check-abi.sh --paint"
21: unknown key "retryy"
24: unknown flag "sluice run --speed"
24: unknown file "scripts/no-such-script.sh"
END
if check "$work/facts" "$work/planted/wrong.md" >"$work/found"; then
  echo "check-names: the self-check found no wrong name" >&2
  exit 1
fi
sed -i "s|^$work/planted/wrong.md:||" "$work/found"
diff -u -L "the self-check expects" -L "it found" "$work/expected" "$work/found" >&2 || exit 1

if [ $# -eq 0 ]; then
  set --
  for document in ./*.md docs/*.md docs/*/*.md plugins/*/README.md Sources/*/*/*.docc/*.md Sources/*/README.md Examples/README.md Examples/*/README.md Benchmarks/README.md \
    Fuzzers/README.md .github/*.md .github/*/*.md; do
    case $document in ./CHANGELOG.md) continue ;; esac
    [ ! -f "$document" ] || set -- "$@" "${document#./}"
  done
fi
# Links can lead to headings of any document.
# shellcheck disable=SC2046 # paths of the repository have no spaces
headings $(sed -n 's/^file	\(.*\.md\)$/\1/p' "$work/facts") >>"$work/facts"
status=0
check "$work/facts" "$@" >"$work/wrong" || status=1
sed 's/^/check-names: /' "$work/wrong" >&2
echo "check-names: $(cat "$work/count") names in $# documents, $(wc -l <"$work/wrong") unknown"
exit $status
