#!/bin/sh
# Checks the imports of each module: a module imports the modules that Package.swift names as its dependencies, and no
# other modules of this project or of C. It imports each of these dependencies, so that "make try" builds only what the
# tests of a module need. A wing, which is a folder of Sources, uses only the wings before it. The folders of a module
# must not use each other's types in a circle.
# usage: scripts/check-imports.sh
set -u
cd "$(dirname "$0")/.."
failed=0

# The wings. Each uses only the ones before it and itself.
wings='Core System Base Network Plugins Engine Client Attach Envoy Command'

# These dependencies are only there so that each product with the module "Sluice" contains them too.
bundled='Sluice'

# Prints a row for each module: kind, wing, folder, module, dependencies. A pure module uses neither C nor the system; the
# other modules may also import modules of the system. Shipped plugins, the test kit and tests have no wing.
modules() {
  swift package dump-package | python3 -c '
import json, sys

for target in json.load(sys.stdin)["targets"]:
    folder = target.get("path") or ""
    parts = folder.split("/")
    isTest = target["type"] == "test"
    if parts[0] not in ("Sources", "plugins") and parts[:2] != ["Tests", "Kit"] and not isTest:
        continue
    kinds = [next(iter(setting["kind"])) for setting in target["settings"]]
    needs = [next(iter(need.values()))[0] for need in target["dependencies"]]
    wing = parts[1] if parts[0] == "Sources" else "-"
    print("test" if isTest else "pure" if "strictMemorySafety" in kinds else "edge", wing, folder, target["name"], *needs)'
}

complain() {
  failed=$((failed + 1))
  echo "check-imports: $*" >&2
}

# Prints "FILE:LINE MODULE" for every import in the Swift files of a folder.
imports() {
  find "$1" -name '*.swift' -exec awk '
    FNR == 1 { quoted = 0 }
    gsub(/"""/, "") % 2 { quoted = !quoted; next }
    quoted { next }
    {
      line = $0
      while (line ~ /^@[A-Za-z_]+(\([a-z]+\))?[ \t]+/) sub(/^@[A-Za-z_]+(\([a-z]+\))?[ \t]+/, "", line)
      sub(/^(public|package|internal|fileprivate|private)[ \t]+/, "", line)
    }
    line ~ /^import[ \t]/ {
      sub(/^import[ \t]+/, "", line)
      sub(/^(struct|class|enum|protocol|func|var|let|typealias)[ \t]+/, "", line)
      sub(/[^A-Za-z0-9_].*/, "", line)
      print FILENAME ":" FNR, line
    }' {} +
}

check_module() { # kind, wing, folder, module, dependencies…
  kind=$1 folder=$3 name=$4
  shift 4
  allowed=" $* Synchronization "
  [ "$kind" = pure ] || allowed="$allowed Glibc Dispatch "
  [ "$kind" != test ] || allowed="$allowed Testing "
  case $name in SluiceFoundation | SluiceFoundationTests) allowed="$allowed Foundation FoundationNetworking " ;; esac
  imports "$folder" >"$list.imports"
  [ -s "$list.imports" ] || return 0
  while read -r place module; do
    case $allowed in
      *" $module "*) ;;
      *) complain "$place: imports $module, which is not a dependency of $name in Package.swift" ;;
    esac
  done <"$list.imports"
  [ "$name" != "$bundled" ] || return 0
  for need; do
    grep -q " $need\$" "$list.imports" || complain "$name depends on $need in Package.swift, but no file imports it"
  done
}

# Prints a line for each dependency that leads to a later wing, and for each wing that is not known.
upward_arrows() { # rows
  awk -v wings="$wings" '
    BEGIN { count = split(wings, names, " "); for (i = 1; i <= count; i++) rank[names[i]] = i }
    NR == FNR { wing[$4] = $2; next }
    $2 == "-" { next }
    !($2 in rank) { print $4 " is in the wing " $2 ", which is not in the list of scripts/check-imports.sh"; next }
    {
      for (i = 5; i <= NF; i++)
        if (wing[$i] in rank && rank[wing[$i]] > rank[$2])
          print $4 " (" $2 ") depends on " $i ", which is in a later wing (" wing[$i] ")"
      # What is pure uses only what is pure.
      for (i = 5; $2 == "Core" && i <= NF; i++) if (wing[$i] != "Core") print $4 " (Core) depends on " $i
    }' "$1" "$1"
}

list=$(mktemp) && trap 'rm -rf "$list" "$list".*' EXIT
command -v python3 >/dev/null || { echo "check-imports: needs python3, to read Package.swift" >&2; exit 1; }
modules >"$list"
[ -s "$list" ] || { echo "check-imports: Package.swift cannot be read" >&2; exit 1; }
while read -r row; do
  # shellcheck disable=SC2086 # the fields of a row are words
  check_module $row
done <"$list"

upward=$(upward_arrows "$list")
[ -z "$upward" ] || complain "a wing uses a later one:
$upward"

# Checks the check: an arrow upwards is found, and others are not.
printf 'edge Base Sources/Base/Low Low\nedge Engine Sources/Engine/High High Low\n' >"$list.rows"
[ -z "$(upward_arrows "$list.rows")" ] || complain "the check of wings reports an arrow where there is none"
printf 'edge Base Sources/Base/Lower Lower High\n' >>"$list.rows"
[ "$(upward_arrows "$list.rows" | wc -l)" -eq 1 ] || complain "the check of wings does not report an arrow upwards"

# A folder without a target would never be built.
for folder in Sources/*/*/; do
  folder=${folder%/}
  [ "$folder" = Sources/Plugins/CSluice ] || grep -q " $folder " "$list" || complain "$folder is no target of Package.swift"
done

# Prints "FOLDER -> FOLDER: TYPE (FILE)" for each use of a type that is part of a circle of folders. Considers the types
# that a file declares at its top level, except names that are declared in two folders.
folder_circles() { # folder of a module
  # shellcheck disable=SC2046 # the names of files have no blanks
  awk -v root="$1/" '
    function folder(file) {
      file = substr(file, length(root) + 1)
      return index(file, "/") ? substr(file, 1, index(file, "/") - 1) : "."
    }
    FNR == 1 { here = folder(FILENAME); quoted = 0; isSecond = seen[FILENAME]++ }
    !isSecond {
      line = $0
      while (sub(/^(@[A-Za-z_]+(\([^)]*\))?|public|package|internal|final|indirect|nonisolated|open)[ \t]+/, "", line));
      if (line !~ /^(struct|class|enum|protocol|actor|typealias) /) next
      sub(/^[a-z]+ +/, "", line)
      sub(/[^A-Za-z0-9_].*/, "", line)
      if (!(line in home)) home[line] = here
      else if (home[line] != here) home[line] = ""
      next
    }
    {
      line = $0
      if (gsub(/"""/, "", line) % 2) { quoted = !quoted; next }
      if (quoted) next
      gsub(/"([^"\\]|\\.)*"/, "", line)
      sub(/\/\/.*/, "", line)
      count = split(line, words, /[^A-Za-z0-9_]+/)
      for (i = 1; i <= count; i++) {
        if (!(words[i] in home)) continue
        there = home[words[i]]
        if (there == "" || there == here || (here, there) in use) continue
        use[here, there] = words[i] " (" FILENAME ")"
        reach[here, there] = 1
        folders[here]
        folders[there]
      }
    }
    END {
      for (k in folders) for (i in folders) if ((i, k) in reach) for (j in folders) if ((k, j) in reach) reach[i, j] = 1
      for (pair in use) {
        split(pair, ends, SUBSEP)
        if ((ends[2], ends[1]) in reach) print ends[1] " -> " ends[2] ": " use[pair]
      }
    }' $(find "$1" -name '*.swift') $(find "$1" -name '*.swift') | sort
}

for folder in Sources/*/*/; do
  module=$(basename "$folder")
  [ -n "$(find "$folder" -name '*.swift' -print -quit)" ] || continue
  circles=$(folder_circles "${folder%/}")
  [ -z "$circles" ] || complain "folders of $module use each other; move a type, or join them:
$circles"
done

# Checks the check: it finds a circle, and ignores names in comments and strings.
mkdir -p "$list.module/Lower" "$list.module/Upper"
printf '/// Not a use of Upper.\npackage struct Lower {\n  let text = "Upper"\n}\n' >"$list.module/Lower/Lower.swift"
printf 'struct Upper { var lower: Lower }\n' >"$list.module/Upper/Upper.swift"
[ -z "$(folder_circles "$list.module")" ] || complain "the check of folders reports a circle where there is none"
printf 'extension Lower { var upper: Upper? { nil } }\n' >"$list.module/Lower/Lower+Upper.swift"
[ "$(folder_circles "$list.module" | wc -l)" -eq 2 ] || complain "the check of folders does not report a circle"

# C plugins may include only the ABI, jansson, the system, and their own files.
includes=$(grep -nE '^[ \t]*#[ \t]*include[ \t]*"[^"]*(\.\./|Sources/)|#[ \t]*include[ \t]*<(curl|microhttpd|CLinux)' \
  $(find plugins -name '*.[ch]') /dev/null)
[ -z "$includes" ] || complain "a C plugin includes what belongs to the host: $includes"

# Only one file may load libraries; CAttach is exempt, because it is loaded into other programs. Only that file may call
# dlclose, and only for libraries that stay mapped, because the Swift runtime never forgets an image.
loaders=$(grep -rlE '\bdlopen *\(' Sources plugins --include='*.swift' --include='*.[ch]' --include='*.cpp' --exclude-dir=CAttach)
[ "$(printf '%s\n' "$loaders" | grep -c .)" -le 1 ] || complain "dlopen is called in more than one file:
$loaders"
unloaders=$(grep -rnE '\bdlclose *\(' Sources plugins --include='*.swift' --include='*.[ch]' --include='*.cpp' |
  grep -vF "${loaders:-no loader}:")
[ -z "$unloaders" ] || complain "a library must not be unloaded: $unloaders"

# Only the bridge to Foundation may import Foundation, FoundationEssentials or another of its modules.
foundation=$(grep -rnE '^[^/]*\bimport +Foundation' Sources plugins --include='*.swift' --exclude-dir=SluiceFoundation)
[ -z "$foundation" ] || complain "Foundation must not be imported here: $foundation"

[ "$failed" -eq 0 ] || { echo "check-imports: $failed failed" >&2; exit 1; }
echo "check-imports: passed"
