#!/bin/sh
# Checks who imports whom: each module imports what its row below names, and nothing else of ours or of C.
# usage: scripts/check-imports.sh
set -u
cd "$(dirname "$0")/.."
failed=0

# Module: what it may import. A pure module reaches neither C nor the system; the others may import the system's own modules.
table='
pure  SluiceMessages
pure  SluiceMetrics
pure  SluiceTraceContext SluiceMessages
pure  SluiceHTTP1       SluiceMessages
pure  SluicePipeline    SluiceMessages SluiceMetrics SluiceTraceContext
edge  SluiceLocks
edge  SluiceJSON        SluiceMessages CJansson
edge  SluiceJSONSchema  SluiceJSON CJSONSchema CJansson
edge  SluiceIDNA        SluiceMessages CIDN2
edge  SluiceContentCoding CZlib CBrotli CZstd
edge  SluiceTransport   SluicePipeline SluiceHTTP1 SluiceMessages SluiceContentCoding CCurl CStreamEvents CTLS CLinux
edge  SluicePluginHost  SluicePipeline SluiceTraceContext SluiceMessages SluiceMetrics SluiceIDNA SluiceJSON SluiceJSONSchema CSluice CLinux CElf CCrypto
edge  SluiceServer      SluiceHTTP1 SluiceMessages SluiceJSON CMicrohttpd CLinux
edge  Sluice            SluicePlugin SluicePluginHost SluiceTransport SluicePipeline SluiceTraceContext SluiceMessages SluiceMetrics SluiceIDNA SluiceJSON SluiceJSONSchema CSluice CLinux CCrypto
edge  SluiceConformance SluicePluginHost SluiceTransport SluicePipeline SluiceMessages SluiceIDNA SluiceJSON CSluice
edge  SluiceControl     Sluice SluiceServer SluiceTransport SluicePipeline SluiceMessages SluiceJSON
edge  SluicePlugin      CSluice CJansson SluiceJSON SluiceTraceContext SluiceMessages
edge  SluiceCommand     Sluice SluiceControl SluiceServer SluiceConformance SluicePluginHost SluiceTransport SluicePipeline SluiceTraceContext SluiceMessages SluiceMetrics SluiceIDNA SluiceJSON CLinux
edge  SluiceTestKit     SluicePipeline SluiceMessages SluiceJSON SluiceServer CLinux CTestKit
edge  plugins           SluicePlugin SluiceMessages SluiceJSON CSluice CCrypto CacheRules OTLPRules
'

complain() {
  failed=$((failed + 1))
  echo "check-imports: $*" >&2
}

# Prints "FILE:LINE MODULE" for every import in the Swift files of a folder.
imports() {
  find "$1" -name '*.swift' -exec awk '
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

check_module() { # kind, folder, allowed…
  kind=$1 folder=$2
  shift 2
  allowed=" $* Synchronization "
  [ "$kind" = pure ] || allowed="$allowed Glibc Dispatch SluiceLocks "
  imports "$folder" >"$list"
  while read -r place module; do
    case $allowed in
      *" $module "*) ;;
      *) complain "$place: $module may not be imported from here; see the table in scripts/check-imports.sh" ;;
    esac
  done <"$list"
}

list=$(mktemp) && trap 'rm -f "$list" "$list.table"' EXIT
printf '%s' "$table" | grep . >"$list.table"
while read -r kind module allowed; do
  folder=Sources/$module
  [ "$module" = plugins ] && folder=plugins
  [ -d "$folder" ] || { complain "the table names $module, but there is no $folder"; continue; }
  # shellcheck disable=SC2086 # the allowed modules are words
  check_module "$kind" "$folder" $allowed
done <"$list.table"

# Every folder with Swift files has a row.
for folder in Sources/*/; do
  module=$(basename "$folder")
  [ -n "$(find "$folder" -name '*.swift' -print -quit)" ] || continue
  grep -qE "^[a-z]+ +$module( |\$)" "$list.table" || complain "$module has no row in the table of scripts/check-imports.sh"
done

# What C plugins may include: the ABI, jansson, the system, and their own files.
includes=$(grep -nE '^[ \t]*#[ \t]*include[ \t]*"[^"]*(\.\./|Sources/)|#[ \t]*include[ \t]*<(curl|microhttpd|CLinux)' \
  $(find plugins -name '*.[ch]') /dev/null)
[ -z "$includes" ] || complain "a C plugin includes what belongs to the host: $includes"

# Only one file loads libraries. It releases a reference only to a library that stays mapped: the Swift runtime never
# forgets an image.
loaders=$(grep -rlE '\bdlopen *\(' Sources plugins --include='*.swift' --include='*.[ch]' --include='*.cpp')
[ "$(printf '%s\n' "$loaders" | grep -c .)" -le 1 ] || complain "dlopen is spelled in more than one file:
$loaders"
unloaders=$(grep -rnE '\bdlclose *\(' Sources plugins --include='*.swift' --include='*.[ch]' --include='*.cpp')
[ "$(printf '%s\n' "$unloaders" | grep -c .)" -le 1 ] && [ "${unloaders%%:*}" = "${unloaders:+$loaders}" ] ||
  complain "a library is never unloaded: $unloaders"

# No part of Foundation, under whatever name.
foundation=$(grep -rnE '^[^/]*\bimport +Foundation' Sources plugins --include='*.swift')
[ -z "$foundation" ] || complain "Foundation is not to be had here: $foundation"

[ "$failed" -eq 0 ] || { echo "check-imports: $failed failed" >&2; exit 1; }
echo "check-imports: passed"
