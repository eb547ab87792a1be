#!/bin/bash
# Row 1: a make target in a clean clone on a minimal Debian that has nothing of ours, as root or as an
# ordinary user with sudo. Needs root and debootstrap; Debian's mirror is that of this machine's apt.
# usage: bare_machine.sh root|user TARGET...     one JSON line; the output goes to build/logs
set -euo pipefail
who=$1
shift
cd "$(dirname "$0")/../.."
repo=$PWD
log=$repo/build/logs/bare-$who-${*// /-}.log
log=${log// /-}
root=$(mktemp -d "${TMPDIR:-/tmp}/assay-bare.XXXXXX")
chmod 755 "$root" # else nobody but root could enter
mkdir -p "$repo/build/logs"

end() {
    for link in /proc/[0-9]*/root; do # a demonstration leaves its daemon up
        [ "$(readlink "$link" 2>/dev/null)" = "$root" ] && kill -9 "$(basename "$(dirname "$link")")" 2>/dev/null
    done
    umount -R -l "$root/dev" "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap end EXIT

enter() { # COMMAND... in the chroot, with a clean environment but for proxies
    local keep=()
    for v in http_proxy https_proxy no_proxy; do
        [ -z "${!v:-}" ] || keep+=("$v=${!v}")
    done
    chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${keep[@]}" "$@"
}

# shellcheck disable=SC2016  # apt fills it in
mirror=$(apt-get indextargets --format '$(SITE)' | grep -m1 -E '/debian/?$')
{
    debootstrap --variant=minbase bookworm "$root" "$mirror"
    cp -a /etc/apt/apt.conf.d/99* "$root/etc/apt/apt.conf.d/" || true
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --make-rslave "$root/dev"
    cp /etc/resolv.conf "$root/etc/"
    enter sh -c 'apt-get update && apt-get install -y --no-install-recommends git make ca-certificates sudo'
    # what this machine trusts beyond Debian's list, a proxy's for one: else nothing but apt reaches out
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" || true
    enter update-ca-certificates
    git clone -q "$repo" "$root/srv/assay"
    enter sh -c 'useradd -m person && echo "person ALL=(ALL) NOPASSWD:ALL" >/etc/sudoers.d/person'
    [ "$who" = root ] || enter chown -R person /srv/assay
} >"$log" 2>&1

began=$(date +%s) passed=true
as=() person=person
[ "$who" = root ] || as=(setpriv "--reuid=$person" "--regid=$person" --init-groups env "HOME=/home/$person")
enter "${as[@]}" sh -c 'cd /srv/assay && exec make "$@"' sh "$@" >>"$log" 2>&1 || passed=false
printf '{"row": 1, "who": "%s", "make": "%s", "passed": %s, "seconds": %d, "closing": "%s"}\n' "$who" "$*" "$passed" \
    "$(($(date +%s) - began))" "$(grep -E '[0-9]+ passed|kill [0-9]+' "$log" | tail -1 | tr -d '"')"
$passed
