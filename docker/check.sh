#!/bin/bash
# Checks Dockerfile and compose.yaml without a Docker engine. `lint` needs nothing; `run` (the default is
# both) needs root and debootstrap: the Dockerfile's steps in chroots, then the services of compose.yaml as
# plain processes in a network of their own, their health checks, a job, a backup.
# usage: check.sh [lint | run [IMAGE]]     IMAGE: where the image's files stay afterwards
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-all}
keep=${2:-}

unit_check() { # systemd's own opinion, where systemd is: nothing unknown, and not exposed
    command -v systemd-analyze >/dev/null || { echo "no systemd-analyze: assay.service is not checked"; return 0; }
    local unit said exposure
    unit=$(mktemp -d)/assay.service
    sed 's#^ExecStart=.*#ExecStart=/bin/true#' docker/assay.service >"$unit"
    said=$(systemd-analyze verify --man=no "$unit" 2>&1 | grep -F assay.service || true)
    exposure=$(systemd-analyze security --offline=yes "$unit" | sed -n 's/.*exposure level for assay.service: \([0-9.]*\).*/\1/p')
    rm -r "$(dirname "$unit")"
    [ -z "$said" ] || { echo "$said"; return 1; }
    echo "assay.service: exposure $exposure of 10"
    awk -v e="$exposure" 'BEGIN { exit !(e > 0 && e <= 2.5) }'
}

if [ "$what" != run ]; then
    yamllint -d '{extends: relaxed, rules: {line-length: disable}}' docker/compose.yaml
    docker/image.py lint
    unit_check
fi
[ "$what" != lint ] || exit 0

work=$(mktemp -d "${TMPDIR:-/tmp}/assay-docker.XXXXXX")
chmod 755 "$work"
end() {
    for link in /proc/[0-9]*/root; do # processes that a failure has left
        case $(readlink "$link" 2>/dev/null) in
        "$work"/*) kill -9 "$(basename "$(dirname "$link")")" 2>/dev/null || true ;;
        esac
    done
    for mounted in "$work"/base/proc "$work"/image/proc "$work"/image/dev; do
        umount -l "$mounted" 2>/dev/null || true
    done
    rm -rf --one-file-system "$work"
}
trap end EXIT

# shellcheck disable=SC2016  # apt fills it in
mirror=$(apt-get indextargets --format '$(SITE)' | grep -m1 -E '/debian/?$')
debootstrap --variant=minbase bookworm "$work/base" "$mirror" >"$work/log" || { tail "$work/log"; exit 1; }
cp -a /etc/apt/apt.conf.d/99* "$work/base/etc/apt/apt.conf.d/" 2>/dev/null || true
cp /etc/resolv.conf "$work/base/etc/"
docker/image.py build "$work/base" "$work/image"
mount -t proc proc "$work/image/proc"
mount --bind /dev "$work/image/dev"
# shellcheck disable=SC2016  # the inner shell fills it in
unshare --net sh -c 'ip link set lo up && exec docker/image.py compose "$1"' sh "$work/image"
umount -l "$work/image/proc" "$work/image/dev"
[ -z "$keep" ] || mv "$work/image" "$keep"
echo "1 passed, 0 failed"
