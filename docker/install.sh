#!/bin/sh
# Installs the packages of docker/packages.txt for the named purposes, as root or with sudo; asks
# apt only when one is missing. usage: install.sh PURPOSE...
set -eu
cd "$(dirname "$0")/.."
want=
for purpose in "$@"; do
    want="$want $(sed -n "s/^$purpose //p" docker/packages.txt | tr '\n' ' ')"
done
missing=
for package in $want; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0
sudo=
[ "$(id -u)" -eq 0 ] || sudo='sudo'
echo "installing (some hundred MB on a fresh machine, a few minutes):$missing"
# Debian starts a cluster of its own for postgresql-15; ours is embedded, so that one is not wanted.
# shellcheck disable=SC2086
$sudo sh -c 'mkdir -p /etc/postgresql-common && { [ -e /etc/postgresql-common/createcluster.conf ] ||
    echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf; }'
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q -o Dpkg::Use-Pty=0 --no-install-recommends $missing
