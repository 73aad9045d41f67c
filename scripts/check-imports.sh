#!/bin/sh
# Checks the imports of each module: a module imports the modules that its row below names, and no other modules of this
# project or of C. The folders of a module must not use each other's types in a circle.
# usage: scripts/check-imports.sh
set -u
cd "$(dirname "$0")/.."
failed=0

# Each row: a module, and the modules that it may import. A pure module uses neither C nor the system; the other modules
# may also import modules of the system.
table='
pure  SluiceMessages
pure  SluiceMetrics
pure  SluiceTraceContext SluiceMessages
pure  SluiceHTTP1       SluiceMessages
pure  SluiceRecords     SluiceMessages
pure  SluicePipeline    SluiceRecords SluiceMessages SluiceMetrics SluiceTraceContext
edge  SluiceSupport
edge  SluiceJSON        SluiceMessages CJansson
edge  SluiceJSONSchema  SluiceMessages SluiceJSON CJSONSchema
edge  SluiceIDNA        SluiceMessages CIDN2
edge  SluiceCookies     SluiceMessages CPSL
edge  SluiceContentCoding CZlib CBrotli CZstd
edge  SluiceLoop        SluicePipeline SluiceMessages CLinux
edge  SluiceTransport   SluiceLoop SluicePipeline SluiceHTTP1 SluiceMessages SluiceContentCoding CTLS CLinux
edge  SluiceWire        SluiceTransport SluiceLoop SluicePipeline SluiceHTTP1 SluiceMessages SluiceContentCoding CTLS CNGHTTP2 CLinux
edge  SluiceCurl        SluiceTransport SluiceLoop SluicePipeline SluiceHTTP1 SluiceMessages SluiceContentCoding CCurl CStreamEvents CLinux CTLS
edge  SluicePluginImage SluiceMessages CSluice CLinux
edge  SluicePluginFile  SluicePluginImage SluiceMessages CElf CCrypto
edge  SluicePluginHost  SluicePluginImage SluicePipeline SluiceRecords SluiceTraceContext SluiceMessages SluiceMetrics SluiceIDNA SluiceJSON SluiceJSONSchema CSluice CLinux
edge  SluiceCrash       SluicePluginFile SluicePluginImage SluiceMessages SluiceJSON CLinux CElf
edge  SluiceTrial       SluicePluginHost SluicePluginFile SluicePluginImage SluiceCrash SluiceLoop SluicePipeline SluiceMessages SluiceIDNA SluiceJSON CSluice CLinux
edge  SluiceServer      SluiceHTTP1 SluiceMessages SluiceJSON CMicrohttpd CLinux
edge  SluiceAssembly    SluicePlugin SluicePluginHost SluicePluginImage SluicePipeline SluiceRecords SluiceTraceContext SluiceMessages SluiceMetrics SluiceIDNA SluiceJSON SluiceJSONSchema CSluice
edge  SluiceEngine      SluiceAssembly SluicePlugin SluicePluginHost SluicePluginFile SluicePluginImage SluiceTrial SluiceLoop SluicePipeline SluiceRecords SluiceTraceContext SluiceMessages SluiceMetrics SluiceJSON CCrypto
edge  Sluice            SluiceEngine SluiceAssembly SluiceCurl SluiceWire SluicePlugin SluiceTrial SluiceLoop SluicePipeline SluiceTraceContext SluiceMessages SluiceMetrics SluiceIDNA SluiceJSON SluiceJSONSchema
edge  SluiceConfiguration SluiceAssembly SluicePipeline SluiceMessages
edge  SluiceDelegates   SluiceEngine SluicePlugin SluicePipeline SluiceMessages
edge  SluiceReports     SluiceEngine SluiceAssembly SluicePipeline SluiceMessages
edge  SluiceClient      Sluice SluiceCookies SluiceEngine SluiceAssembly SluicePlugin SluicePipeline SluiceRecords SluiceMessages SluiceJSON
edge  SluiceFoundation  SluiceClient SluiceCookies SluiceEngine SluiceAssembly SluicePlugin SluicePipeline SluiceMessages SluiceIDNA Foundation FoundationNetworking
edge  SluiceReplay      SluiceEngine SluiceAssembly SluiceWire SluicePluginHost SluicePluginFile SluicePluginImage SluiceTrial SluiceLoop SluicePipeline SluiceRecords SluiceTraceContext SluiceMessages SluiceJSON
edge  SluiceControl     Sluice SluiceEngine SluiceAssembly SluiceServer SluiceLoop SluicePipeline SluiceMessages SluiceJSON
pure  SluiceUpdateRules SluiceMessages
edge  SluiceUpdate      SluiceUpdateRules SluiceClient Sluice SluiceEngine SluiceAssembly SluiceTrial SluicePlugin SluicePluginFile SluicePluginImage SluicePipeline SluiceMessages SluiceJSON CCrypto
edge  SluicePlugin      CSluice CJansson SluiceJSON SluiceTraceContext SluiceMessages
edge  SluiceCommand     CAttachABI Sluice SluiceEngine SluiceAssembly SluiceUpdate SluiceUpdateRules SluiceClient SluiceControl SluiceCookies SluiceReplay SluiceRecords SluiceServer SluiceTrial SluiceCrash SluicePluginHost SluicePluginFile SluicePluginImage SluiceCurl SluiceLoop SluicePipeline SluiceTraceContext SluiceMessages SluiceMetrics SluiceIDNA SluiceJSON SluiceContentCoding CLinux
pure  SluiceAttachRules SluiceMessages
edge  SluiceAttachHost  CAttachABI SluiceAttachRules SluiceAssembly SluicePluginHost SluicePluginImage SluiceLoop SluicePipeline SluiceRecords SluiceTraceContext SluiceMessages SluiceIDNA SluiceJSON CLinux
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
  [ "$kind" = pure ] || allowed="$allowed Glibc Dispatch SluiceSupport "
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

# Every folder with Swift files must have a row.
for folder in Sources/*/; do
  module=$(basename "$folder")
  [ -n "$(find "$folder" -name '*.swift' -print -quit)" ] || continue
  grep -qE "^[a-z]+ +$module( |\$)" "$list.table" || complain "$module has no row in the table of scripts/check-imports.sh"
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

for folder in Sources/*/; do
  module=$(basename "$folder")
  [ -n "$(find "$folder" -name '*.swift' -print -quit)" ] || continue
  circles=$(folder_circles "${folder%/}")
  [ -z "$circles" ] || complain "folders of $module use each other; move a type, or join them:
$circles"
done

# Checks the check: it finds a circle, and ignores names in comments and strings.
trap 'rm -rf "$list" "$list.table" "$list.module"' EXIT
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
