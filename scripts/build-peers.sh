#!/bin/sh
# Builds the programs in Benchmarks/Peers, with which sluice-bench is compared. A program is skipped if its language is
# not installed.
# usage: scripts/build-peers.sh [FOLDER]     (default Benchmarks/.build/peers)
set -eu
cd "$(dirname "$0")/.."
folder=${1:-Benchmarks/.build/peers}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
rm -f "$folder/net-http" "$folder/pycurl-loop" "$folder/url-session"

if command -v go >/dev/null; then
  (cd Benchmarks/Peers/net-http && GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o "$folder/net-http" .)
  echo "go, go-middleware: $(go version | cut -d ' ' -f 3)"
else
  echo "go, go-middleware: skipped, because Go is not installed (Debian: golang-go)"
fi

# Debian's package is for Debian's own Python, which need not be the first one in PATH.
python=
for candidate in /usr/bin/python3 python3; do
  if [ -z "$python" ] && "$candidate" -c 'import pycurl' 2>/dev/null; then python=$(command -v "$candidate"); fi
done
if [ -n "$python" ]; then
  { echo "#!$python" && tail -n +2 Benchmarks/Peers/pycurl/pycurl-loop.py; } >"$folder/pycurl-loop"
  chmod +x "$folder/pycurl-loop"
  "$python" -c 'import pycurl; print("pycurl:", pycurl.version)'
else
  echo "pycurl: skipped, because pycurl is not installed (Debian: python3-pycurl)"
fi

if command -v swift >/dev/null; then
  built="$folder/swift"
  swift build -q -c release --package-path Benchmarks/Peers/url-session --scratch-path "$built"
  cp "$built/release/url-session" "$folder/url-session"
  echo "url-session: $(swift --version 2>/dev/null | head -n 1)"
else
  echo "url-session: skipped, because Swift is not installed"
fi

if command -v h2load >/dev/null; then
  echo "h2load: $(h2load --version)"
else
  echo "h2load: skipped, because h2load is not installed (Debian: nghttp2-client)"
fi
