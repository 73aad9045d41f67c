#!/bin/sh
# Installs the packages into a bare Debian without a toolchain and tests them there: sends requests through a pipeline
# with the shipped plugins to sluice echo, builds a plugin in C in three ways, and removes the packages. Then it tests
# the archive, unpacked into a separate folder. If this machine has Swift, a plugin in Swift is built here and runs
# there with the runtime from the archive. If it has systemd-nspawn, the unit is started under systemd. Needs root (chroot), the network (packages of Debian) and debootstrap.
# usage: scripts/check-deb.sh VERSION [FOLDER]      FOLDER has the packages (default .build/packages)
# SUITE and MIRROR select the Debian (default bookworm and deb.debian.org).
set -eu
cd "$(dirname "$0")/.."
version=$1 packages=${2:-.build/packages}
suite=${SUITE:-bookworm} mirror=${MIRROR:-http://deb.debian.org/debian}

fail() {
  echo "check-deb: $*" >&2
  exit 1
}

[ "$(id -u)" -eq 0 ] || fail "a bare Debian is entered with chroot, which needs root: run make deb tarball, then sudo scripts/check-deb.sh $version"
command -v debootstrap >/dev/null || fail "there is no debootstrap; install it"
[ -f "$packages/sluice_$version-1_$(dpkg --print-architecture).deb" ] || fail "there are no packages of $version in $packages; run make deb"

# Not in /tmp, where the mount options can forbid running programs.
root=$(mktemp -d /var/tmp/sluice-root.XXXXXX)
cleanup() {
  umount "$root/root/proc" 2>/dev/null || true
  umount "$root/root" 2>/dev/null || true
  # Deletes the root only if nothing of the machine is mounted there any more.
  if ! grep -qF " $root/" /proc/mounts; then rm -rf --one-file-system "$root"; fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "== a bare $suite"
debootstrap --variant=minbase "$suite" "$root/root" "$mirror" >"$root/log" 2>&1 || { tail "$root/log" >&2; fail "debootstrap failed"; }
root_of_packages=$root/root/packages
mkdir "$root_of_packages"
cp "$packages"/*"$version"*.deb "$packages/sluice-$version-"*.tar.gz "$root_of_packages"
cp -r Examples/Tenant "$root_of_packages"
cp /etc/resolv.conf "$root/root/etc" 2>/dev/null || true
# A root that is a mount point, because unshare(1) below changes how mounts of the root propagate.
mount --bind "$root/root" "$root/root"
mount -t proc proc "$root/root/proc"

cat >"$root/root/check" <<'CHECK'
#!/bin/sh
set -eu
version=$1
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
unset http_proxy https_proxy 2>/dev/null || true

fail() {
  echo "check-deb: $*" >&2
  exit 1
}
as_user="setpriv --reuid=1000 --regid=1000 --clear-groups env -i HOME=/home/user PATH=/usr/bin:/bin LC_ALL=C.UTF-8"
as_user="$as_user API_TOKEN=not-a-real-secret"

# Starts an echo server of that command; sets server and url.
start_echo() { # command
  : >/home/user/url
  $as_user "$1" echo >/home/user/url 2>&1 &
  server=$!
  until [ -s /home/user/url ]; do kill -0 $server || { cat /home/user/url >&2; fail "the echo server ended"; }; sleep 0.1; done
  url=$(cat /home/user/url)
}
stop_echo() {
  kill $server
  wait $server 2>/dev/null || true
}

# Sends requests through a pipeline to an echo server, as a user without rights. The configuration names the plugins in
# C and Swift without a path. Files with these names are in the working folder and in LD_LIBRARY_PATH, and must not be
# loaded.
main_job() { # command
  cd /home/user
  rm -rf work && mkdir work && cd work
  for name in bearer-auth json-edit access-log; do echo trap | tee "$name" "$name.so" "lib$name.so" >/dev/null; done
  start_echo "$1"
  cat >pipeline.json <<JSON
{
  "plugins": {
    "edit": {"library": "json-edit", "config": {"request": [{"op": "set", "path": "/client", "value": "sluice"}]}},
    "auth": {"library": "bearer-auth", "config": {"token": {"env": "API_TOKEN"}, "hosts": ["127.0.0.1"]}},
    "log": {"library": "access-log", "config": {"output": "access.log"}},
    "headers": {"builtin": "headers"}
  },
  "request": ["edit"], "issue": ["auth", "headers"], "tracers": ["log"],
  "transport": {"baseURL": "$url"}
}
JSON
  chown -R 1000:1000 /home/user
  $as_user LD_LIBRARY_PATH=/home/user/work "$1" check -c pipeline.json || fail "sluice check refuses the pipeline"
  $as_user LD_LIBRARY_PATH=/home/user/work "$1" send -c pipeline.json -H 'content-type: application/json' -d '{"item": 1}' /items >answer ||
    fail "sluice send failed"
  for text in '"authorization": "Bearer not-a-real-secret"' '"client": "sluice"' '"traceparent"'; do
    grep -qF "$text" answer || { cat answer >&2; fail "the request lacks $text"; }
  done
  seq 2000 | sed 's|.*|{"id": &, "url": "/items/&"}|' | $as_user "$1" run -c pipeline.json >results.jsonl 2>summary || { cat summary >&2; fail "sluice run failed"; }
  head -n 1 summary
  [ "$(wc -l <results.jsonl)" -eq 2000 ] && [ "$(grep -c '"status":200' results.jsonl)" -eq 2000 ] || fail "not every request has a response"
  [ "$(wc -l <access.log)" -eq 2001 ] || fail "the log of access-log does not have one line for each request"
  if grep -q not-a-real-secret access.log; then fail "the log shows the token"; fi
  stop_echo
  for name in bearer-auth json-edit static-headers traffic-metrics access-log error-enrichment oauth-refresh cache otlp aws-sigv4; do
    $as_user "$1" plugin inspect "$name" | grep -q '^  verdict        usable$' || fail "sluice plugin inspect $name does not find a usable library"
  done
}

# Checks that every needed library is found, and that the libraries of Swift's runtime are those below the prefix.
linkage() { # prefix
  for file in "$1"/bin/sluice "$1"/lib/sluice/*.so "$1"/lib/sluice/plugins/*.so; do
    needed=$(ldd "$file")
    if echo "$needed" | grep 'not found' >&2; then fail "$file needs the libraries above, which this system lacks"; fi
    if echo "$needed" | grep -E 'libswift|libdispatch' | grep -vF " => $1/" >&2; then fail "$file loads Swift's runtime from outside of $1"; fi
  done
}

echo "== install sluice"
apt-get update -q >/dev/null
before=$(dpkg-query -W | wc -l)
apt-get install -y -q --no-install-recommends /packages/sluice_"$version"-1_*.deb >log 2>&1 || { cat log >&2; fail "apt-get install sluice failed"; }
echo "$(($(dpkg-query -W | wc -l) - before)) packages, $(dpkg-query -W -f '${Installed-Size}' sluice) KB"
if command -v swift cc; then fail "this is no bare machine"; fi
useradd -m -u 1000 user
[ "$(sluice version | head -n 1)" = "sluice $version" ] || fail "sluice version does not show $version"
sluice version
unshare -m sh -c 'umount -l /proc && sluice version' >/dev/null || fail "without /proc, sluice version does not run"
dpkg --verify sluice
(cd / && md5sum -c --quiet /var/lib/dpkg/info/sluice.md5sums)
[ -z "$(dpkg-query -L sluice | while read -r file; do find "$file" -maxdepth 0 ! -type l \( ! -user root -o ! -group root -o -perm /022 \); done)" ] ||
  fail "a file of the package does not belong to root alone"
for file in man/man1/sluice.1.gz bash-completion/completions/sluice zsh/vendor-completions/_sluice fish/vendor_completions.d/sluice.fish doc/sluice/changelog.Debian.gz; do
  # The files need not exist here: dpkg can be configured not to install man pages and documents. So look at the list of
  # the package.
  dpkg-query -L sluice | grep -qx "/usr/share/$file" || fail "the package has no /usr/share/$file"
done
ldconfig -p | grep -E 'swift|sluice' && fail "the runtime of Swift is not private"
linkage /usr

echo "== send and run, as a user"
main_job sluice
sluice plugin new early --lang c >/dev/null
if sluice plugin build early >log 2>&1; then fail "a plugin is built without headers"; fi
grep -q libsluice-dev log || { cat log >&2; fail "the error does not name the package libsluice-dev"; }

echo "== install libsluice-dev, and build a plugin in C"
apt-get install -y -q --no-install-recommends /packages/libsluice-dev_"$version"-1_all.deb gcc libc6-dev pkg-config cmake make >log 2>&1 ||
  { cat log >&2; fail "apt-get install libsluice-dev failed"; }
[ "$(pkg-config --modversion sluice)" = "$version" ] || fail "pkg-config does not know sluice $version"
mkdir /home/user/build && cd /home/user/build && cp -r /packages/Tenant . && chown -R 1000:1000 /home/user

$as_user sh -c 'cc -std=c11 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden $(pkg-config --cflags sluice jansson) \
  Tenant/tenant.c -o libtenant-pc.so $(pkg-config --libs jansson)'

mkdir cmake && cat >cmake/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(tenant C)
find_package(Sluice 0.1 REQUIRED)
sluice_add_plugin(tenant ../Tenant/tenant.c)
message(STATUS "Sluice ${Sluice_VERSION} with plugins in ${Sluice_PLUGIN_DIR}")
CMAKE
chown -R 1000:1000 cmake
$as_user sh -c 'cmake -S cmake -B cmake/out && cmake --build cmake/out' >log 2>&1 || { cat log >&2; fail "CMake does not build the plugin"; }
grep 'Sluice .* with plugins' log
# Another version is refused, before anything is built.
sed -i 's/Sluice 0.1/Sluice 99/' cmake/CMakeLists.txt
if $as_user cmake -S cmake -B cmake/refused >log 2>&1; then fail "CMake accepts version $version where 99 is required"; fi

$as_user sluice plugin new mine --lang c >/dev/null
$as_user sluice plugin build mine >log 2>&1 || { cat log >&2; fail "the new plugin does not build"; }

start_echo sluice
for library in ./libtenant-pc.so cmake/out/libtenant.so 'mine/build/libmine.so={"value": "hello"}'; do
  chmod go-w "${library%%=*}"
  $as_user sluice send --plugin "$library" "$url/" >answer || fail "sluice send refuses $library"
  grep -E '"x-(tenant|mine)"' answer || fail "$library has not set its header"
done
$as_user sluice plugin validate cmake/out/libtenant.so >log || { cat log >&2; fail "the plugin built by CMake breaks a rule"; }
tail -n 1 log
stop_echo

echo "== remove them"
apt-get purge -y -q sluice libsluice-dev >log 2>&1 || { cat log >&2; fail "apt-get purge failed"; }
left=$(find /usr /etc /var/lib/dpkg/info -name '*sluice*' ! -path '/usr/share/doc/*')
[ -z "$left" ] || fail "the packages leave $left"

echo "== the archive, in a folder of its own"
mkdir -p "/opt/a folder"
tar -xzf /packages/sluice-"$version"-linux-*.tar.gz -C "/opt/a folder" --strip-components=1
linkage "/opt/a folder"
main_job "/opt/a folder/bin/sluice"
[ "$(PKG_CONFIG_PATH="/opt/a folder/lib/pkgconfig" pkg-config --modversion sluice)" = "$version" ] || fail "pkg-config does not know the archive"
cd /home/user && rm -rf mine && $as_user "/opt/a folder/bin/sluice" plugin new mine --lang c >/dev/null
$as_user "/opt/a folder/bin/sluice" plugin build mine >log 2>&1 || { cat log >&2; fail "the archive does not build a plugin"; }
CHECK
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" chroot "$root/root" sh /check "$version"

if command -v systemd-nspawn >/dev/null; then
  echo "== the unit, under systemd"
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$root/root" \
    sh -c "apt-get install -y -q --no-install-recommends /packages/sluice_$version-1_*.deb" >"$root/log" 2>&1 || { cat "$root/log" >&2; fail "apt-get install sluice failed"; }
  umount "$root/root/proc"
  scripts/check-unit.sh "$root/root"
else
  echo "check-deb: no systemd-nspawn: the unit was not started" >&2
fi

if command -v swift >/dev/null; then
  echo "== a plugin in Swift, built with the toolchain of this machine, in the command of the archive"
  mkdir "$root/archive"
  tar -xzf "$packages/sluice-$version-linux-$(uname -m).tar.gz" -C "$root/archive" --strip-components=1
  sluice=$root/archive/bin/sluice
  "$sluice" plugin new request --lang swift --path "$root" >/dev/null
  library=$("$sluice" plugin build "$root/request" 2>"$root/log") || { cat "$root/log" >&2; fail "the plugin in Swift does not build"; }
  "$sluice" plugin validate --config '{"value": "a"}' "$library" >"$root/log" || { cat "$root/log" >&2; fail "the plugin in Swift breaks a rule"; }
  tail -n 1 "$root/log"
fi
echo "check-deb: passed"
