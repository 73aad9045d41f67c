#!/bin/sh
# Installs the missing Debian packages that the build needs; with --tests also those that the tests need, with --cost
# those that scripts/check-cost.sh needs.
# usage: scripts/install-dependencies.sh [--tests | --cost]
set -eu

packages="pkg-config libjansson-dev libcurl4-openssl-dev libmicrohttpd-dev libelf-dev libssl-dev
  zlib1g-dev libbrotli-dev libzstd-dev libidn2-dev libnghttp2-dev libpsl-dev"
for_tests="nginx-light apache2-bin curl json-schema-test-suite openssl binutils gcc-aarch64-linux-gnu libc6-dev-arm64-cross
  libhttp-parser-dev tinyproxy-bin microsocks stunnel4 git python3 php-cli php-curl python3-pycurl"
for_cost="nginx-light binutils valgrind"
case ${1:-} in
  '') ;;
  --tests) packages="$packages $for_tests" ;;
  --cost) packages="$packages $for_cost" ;;
  *) echo "usage: scripts/install-dependencies.sh [--tests | --cost]" >&2; exit 2 ;;
esac

# The plugins in C need any C compiler; the C++ headers are for the patterns of JSON Schemas.
command -v cc >/dev/null || packages="$packages gcc libc6-dev"
[ -d /usr/include/c++ ] || packages="$packages g++"
if [ "${1:-}" = --tests ]; then
  # Both compilers compile the headers of the ABI, as C and as C++. Clang usually comes with Swift.
  command -v c++ >/dev/null || packages="$packages g++"
  command -v clang++ >/dev/null || packages="$packages clang"
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install-dependencies: no apt-get here; these Debian packages, or what your system calls them, are needed:" >&2
  echo "  $packages" >&2
  pkg-config --exists jansson libcurl libmicrohttpd libelf libcrypto libssl zlib libbrotlidec libzstd libidn2 libnghttp2 libpsl && exit 0
  exit 1
fi

is_installed() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

# Whether another installed package provides the same.
is_provided() {
  case $1 in
    pkg-config) command -v pkg-config ;;
    nginx-light) command -v nginx || [ -x /usr/sbin/nginx ] ;;
    *) false ;;
  esac >/dev/null
}

# The package lists can be missing or old.
download() {
  apt-get download -q "$1" >&2 || { $as_root apt-get update -q >&2 && apt-get download -q "$1" >&2; }
}

# promtool checks the text of the metrics. Its package is a whole server, which would start with the machine. So only
# this program is taken from the package. Without it, the tests that need it are left out.
install_promtool() {
  tools=$(dirname "$0")/../.build/tools
  command -v promtool >/dev/null || [ -x "$tools/promtool" ] && return
  work=$(mktemp -d)
  echo "install-dependencies: taking promtool from the package prometheus" >&2
  if (cd "$work" && download prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool); then
    mkdir -p "$tools" && mv "$work/usr/bin/promtool" "$tools/"
  else
    echo "install-dependencies: no promtool: some tests of the metrics are left out" >&2
  fi
  rm -rf "$work"
}

missing=
for package in $packages; do
  is_installed "$package" || is_provided "$package" || missing="$missing $package"
done
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
if [ -z "$missing" ]; then
  [ "${1:-}" != --tests ] || install_promtool
  exit 0
fi

if [ -n "$as_root" ]; then
  command -v sudo >/dev/null || {
    echo "install-dependencies: missing:$missing. Install them as root, or install sudo." >&2
    exit 1
  }
fi

install() {
  # shellcheck disable=SC2086 # the packages are words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}

echo "install-dependencies: installing$missing" >&2
# If the installation fails, the package lists can be missing or old, so fetch them and try again.
install || { $as_root apt-get update -q && install; }
[ "${1:-}" != --tests ] || install_promtool
