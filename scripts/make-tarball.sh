#!/bin/sh
# Makes an archive of the release build with the libraries of Swift's runtime. It runs from any folder.
# usage: scripts/make-tarball.sh VERSION [FOLDER]      (default .build/packages)
set -eu
cd "$(dirname "$0")/.."
version=$1 output=${2:-.build/packages}
umask 022
mkdir -p "$output"
output=$(realpath "$output")
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
name=sluice-$version-linux-$(uname -m)
tree=$work/$name

# With an empty prefix, the files are directly in the folder: bin, lib, include and share.
scripts/stage-release.sh "$tree" ""
# The archive can be unpacked anywhere, so paths are relative to the file.
sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$tree/lib/pkgconfig/sluice.pc"
sed -i "s|=/bin/sluice|=/opt/$name/bin/sluice|" "$tree"/lib/systemd/system/*.service
! grep -l "=/bin/sluice" "$tree"/lib/systemd/system/*.service || exit 1
documents=$tree/share/doc/sluice
mkdir -p "$documents"
cp LICENSE NOTICE CHANGELOG.md "$documents"
cp share/debian/copyright "$documents/copyright"

# Lists the requirements for the system: the names of libraries, and the newest version of glibc's functions.
files=$(find "$tree/bin" "$tree/lib" -type f \( -name sluice -o -name '*.so' \))
{
  echo "Sluice $version needs these libraries of the system:"
  echo
  for file in $files; do readelf -d "$file"; done | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | while read -r library; do
    [ -f "$tree/lib/sluice/swift/$library" ] || echo "  $library"
  done
  echo
  echo "and glibc $(for file in $files; do readelf -VW "$file"; done | grep -oE 'GLIBC_[0-9.]+' | sed s/GLIBC_// | sort -uV | tail -n 1) or newer."
} >"$documents/REQUIREMENTS"

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
chmod -R u=rwX,go=rX "$tree"
tar -C "$work" --owner=0 --group=0 --numeric-owner --sort=name --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -9n >"$output/$name.tar.gz"
echo "$output/$name.tar.gz"
