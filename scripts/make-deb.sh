#!/bin/sh
# Makes the Debian packages sluice and libsluice-dev from the release build.
# usage: scripts/make-deb.sh VERSION [FOLDER]      (default .build/packages)
# DEBFULLNAME and DEBEMAIL name the maintainer, as for other tools of Debian. SOURCE_DATE_EPOCH, or the last commit, is the time
# of every file.
set -eu
cd "$(dirname "$0")/.."
version=$1 output=${2:-.build/packages}
# Only root may write to installed files.
umask 022

fail() {
  echo "make-deb: $*" >&2
  exit 1
}

for tool in dpkg-deb dpkg-shlibdeps gzip; do
  command -v $tool >/dev/null || fail "there is no $tool; on Debian, install dpkg-dev"
done
mkdir -p "$output"
output=$(realpath "$output")
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

maintainer="${DEBFULLNAME:-The Sluice authors} <${DEBEMAIL:-sluice@localhost}>"
architecture=$(dpkg --print-architecture)
revision=$version-1
command=$work/sluice headers=$work/libsluice-dev

# Installs one tree, then moves the files that only authors of plugins need to the other package.
scripts/stage-release.sh "$command" /usr pkgconfigdir=/usr/share/pkgconfig cmakedir=/usr/share/cmake/Sluice
mkdir -p "$headers/usr/share"
mv "$command/usr/include" "$headers/usr"
for folder in pkgconfig cmake sluice; do mv "$command/usr/share/$folder" "$headers/usr/share"; done
# Debian's zsh looks for completions in this folder.
mv "$command/usr/share/zsh/site-functions" "$command/usr/share/zsh/vendor-completions"
gzip -9n "$command"/usr/share/man/man1/*.1

# dpkg-shlibdeps needs the control file of a source package.
mkdir -p "$work/shlibdeps/debian"
printf 'Source: sluice\n\nPackage: sluice\nArchitecture: any\n' >"$work/shlibdeps/debian/control"
log=$work/shlibdeps/log
(cd "$work/shlibdeps" && dpkg-shlibdeps -Tsubstvars -S"$command" -l"$command/usr/lib/sluice/swift" --ignore-missing-info \
  "$command/usr/bin/sluice" "$command"/usr/lib/sluice/*.so "$command"/usr/lib/sluice/*/*.so) >"$log" 2>&1 ||
  { cat "$log" >&2; fail "dpkg-shlibdeps does not know what the package depends on"; }
depends=$(sed -n 's/^shlibs:Depends=//p' "$work/shlibdeps/substvars")
[ -n "$depends" ] || fail "dpkg-shlibdeps names no package that sluice depends on"
# Every needed library must belong to a package of Debian, except the libraries in this package.
if grep 'no dependency information' "$log" | grep -v "$command/usr/lib/sluice/swift/" >&2; then
  fail "the libraries above belong to no package of Debian"
fi

describe() { # package, tree, control fields
  documents=$2/usr/share/doc/$1
  mkdir -p "$documents" "$2/DEBIAN"
  cp share/debian/copyright NOTICE "$documents"
  gzip -9nc CHANGELOG.md >"$documents/changelog.gz"
  {
    printf 'sluice (%s) unstable; urgency=medium\n\n  * Packaged from the sources of version %s; changelog.gz has their changes.\n\n' "$revision" "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
  } | gzip -9n >"$documents/changelog.Debian.gz"
  chmod -R u=rwX,go=rX "$2"
  (cd "$2" && find . -path ./DEBIAN -prune -o -type f -print0 | sed -z 's|^\./||' | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  {
    printf 'Package: %s\nSource: sluice\nVersion: %s\nMaintainer: %s\nPriority: optional\n' "$1" "$revision" "$maintainer"
    printf 'Installed-Size: %s\n' "$(du -sk --exclude=DEBIAN "$2" | cut -f1)"
    printf '%s\n' "$3"
  } >"$2/DEBIAN/control"
  chmod 644 "$2/DEBIAN/control" "$2/DEBIAN/md5sums"
  find "$2" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

describe sluice "$command" "Architecture: $architecture
Section: web
Depends: $depends
Recommends: ca-certificates
Suggests: libsluice-dev
Description: HTTP requests through a pipeline of plugins
 Sluice runs HTTP requests through a pipeline of stages that live in shared
 libraries, written in C, C++ or Swift. A stage adds credentials or trace
 headers, edits JSON bodies, retries, caches or logs.
 .
 This package has the command, its plugins, and the libraries of Swift's
 runtime that they need."

describe libsluice-dev "$headers" "Architecture: all
Section: libdevel
Depends: libjansson-dev
Recommends: sluice (>= $version), gcc | c-compiler, pkgconf | pkg-config
Suggests: cmake
Description: headers and Swift sources for plugins of Sluice
 Sluice runs HTTP requests through a pipeline of stages that live in shared
 libraries, written in C, C++ or Swift.
 .
 This package has what authors of such stages need: the headers for C and C++,
 files for pkg-config and CMake, and the package for Swift, which needs a
 toolchain of its own."

for package in sluice:$architecture libsluice-dev:all; do
  name=${package%:*}
  dpkg-deb --root-owner-group -Zxz --build "$work/$name" "$output/${name}_${revision}_${package#*:}.deb" >/dev/null
  echo "$output/${name}_${revision}_${package#*:}.deb"
done
