#!/bin/sh
# Builds the documentation of Sluice, SluiceClient and SluicePlugin with the toolchain's docc, and merges it into one
# archive in .build/docs, which any web server can serve. A warning of docc, for instance about a link to a missing
# symbol, is an error. Undocumented parameters are allowed, because comments describe only the parameters that need it.
# usage: scripts/make-docs.sh      after: swift build
set -eu
cd "$(dirname "$0")/.."
docs=.build/docs
rm -rf "$docs"
mkdir -p "$docs/parts"
status=0
fail() { echo "make-docs: $*" >&2; exit 1; }

# docc is beside the compiler. The command "swift" can be a program that selects one of several toolchains.
docc=$(dirname "$(readlink -f "$(command -v swift)")")/docc
[ -x "$docc" ] || docc=$(command -v docc) || fail "the toolchain of $(command -v swift) has no docc"

# Copies a page for docc: removes the source files from fences and the table of contents, which docc generates, and
# replaces links to headings and to other documents by their text.
article() { # page, folder
  sed -E -e 's/^```swift .*/```swift/' -e '/^- (\[[^]]*\]\(#[^)]*\)( · )?)+$/d' \
    -e 's/\[([^]]*)\]\((#|\.\.\/|[^):]*\.md)[^)]*\)/\1/g' "$1" >"$2/$(basename "$1")"
}

# Prints the modules whose types a module re-exports.
exported() {
  find Sources/*/"$1" -name '*.swift' -exec sed -nE 's/^@_exported public import ([a-z]+ )?([A-Za-z0-9]+)(\.[A-Za-z0-9]+)?$/\2/p' {} + |
    LC_ALL=C sort -u | grep -v '^Sluice$' || true
}

build() { # module, articles
  module=$1
  shift
  mkdir "$docs/parts/$module.docc" "$docs/parts/$module"
  for page in Sources/*/"$module/$module.docc"/*.md "$@"; do article "$page" "$docs/parts/$module.docc"; done
  # The pages of a module include the types that it re-exports from other modules. The exception is "Sluice":
  # SluiceClient re-exports it, but it has pages of its own.
  for part in "$module" $(exported "$module"); do
    scripts/symbol-graph.sh "$part" "$docs/parts/$module.graphs" || fail "the symbols of $part cannot be read; run: swift build"
  done
  # Joins the graphs, so that members in extensions are with their types.
  {
    sed -E 's/"symbols":\[.*/"symbols":[/' "$docs/parts/$module.graphs/$module.symbols.json"
    sed -E 's/.*"symbols":\[(.*)\],"relationships":\[.*\]\}$/\1/' "$docs/parts/$module.graphs"/*.json | grep . | paste -sd,
    echo '],"relationships":['
    sed -E 's/.*\],"relationships":\[(.*)\]\}$/\1/' "$docs/parts/$module.graphs"/*.json | grep . | paste -sd,
    echo ']}'
  } >"$docs/parts/$module/$module.symbols.json"
  "$docc" convert "$docs/parts/$module.docc" --additional-symbol-graph-dir "$docs/parts/$module" --ide-console-output \
    --fallback-display-name "$module" --fallback-bundle-identifier "$module" --output-dir "$docs/parts/$module.doccarchive" \
    >"$docs/parts/$module.log" 2>&1 || status=1
  if grep -E '(warning|error): ' "$docs/parts/$module.log" | grep -v 'is missing documentation'; then status=1; fi
}

build Sluice
build SluiceClient docs/from-urlsession.md docs/from-async-http-client.md
build SluicePlugin
[ "$status" -eq 0 ] || fail "the documentation has warnings"
"$docc" merge "$docs"/parts/*.doccarchive --synthesized-landing-page-name Sluice --output-path "$docs/Sluice.doccarchive"
pages=$(find "$docs/Sluice.doccarchive/data/documentation" -name '*.json' | wc -l)
rm -rf "$docs/parts"
echo "make-docs: $pages pages in $docs/Sluice.doccarchive"
