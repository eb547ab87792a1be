#!/bin/bash
# The demonstration: starts the daemon, imports Fashion-MNIST from Debian's package (once), compares
# three solvers on it, prints progress, a table and where to look. The daemon stays up afterwards.
# usage: demo.sh ASSAYD    environment: ASSAY_LISTEN, ASSAY_DATA_DIR as for the daemon
set -euo pipefail
assayd=$1
here=$(cd "$(dirname "$0")" && pwd)
images=/usr/share/datasets/fashion-mnist
listen=${ASSAY_LISTEN:-127.0.0.1:8470}
url=http://$listen
place=/var/lib/assay
[ "$(id -u)" -eq 0 ] || place=$HOME/.local/share/assay
scratch=${TMPDIR:-/tmp}
pid_file=$scratch/assay-demo-$(id -u)-${listen##*:}.pid

start_daemon() {
    local log
    log=$(mktemp "$scratch/assay-demo.XXXXXX.log")
    echo "starting assayd at $url"
    echo "  data directory: ${ASSAY_DATA_DIR:-$place}    log: $log"
    setsid "$assayd" >"$log" 2>&1 </dev/null &
    local pid=$!
    echo "$pid" >"$pid_file"
    for _ in $(seq 300); do
        curl -fsS "$url/readyz" >/dev/null 2>&1 && return
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.2
    done
    cat "$log"
    exit 1
}

# The pid of the daemon that an earlier demonstration started, if that one still runs.
daemon_pid() {
    local pid
    pid=$(cat "$pid_file" 2>/dev/null) || return 0
    case $(readlink "/proc/$pid/exe" 2>/dev/null || true) in
    */assayd*) echo "$pid" ;;
    esac
}

# The id of the newest ready set of that name.
ready_set() {
    "$assayd" dataset list --server "$url" | awk -v name="$1" '$3 == name && $4 == "ready" && !n++ { print $2 }'
}

echo "this takes a few minutes on two cores: the import some seconds, the three trials the rest"
if curl -fsS "$url/readyz" >/dev/null 2>&1; then
    echo "assayd runs already at $url"
else
    start_daemon
fi

name=fashion-mnist
dataset=$(ready_set $name)
if [ -n "$dataset" ]; then
    echo "the data set $name is there already: $dataset"
else
    "$assayd" dataset list --server "$url" | awk -v name=$name '$3 == name { found = 1 } END { exit !found }' &&
        name=$name-$(date +%s) # one that was refused or never finished has the name
    echo "importing 70,000 images of Fashion-MNIST as $name"
    dataset=$("$assayd" dataset create --server "$url" --name "$name" --layout idx \
        --classes "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot" \
        "$images"/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz)
fi
job=$(mktemp "$scratch/assay-demo.XXXXXX.json")
trap 'rm -f "$job"' EXIT
sed "s/\"kind\"/\"dataset\": \"$dataset\",\n  \"kind\"/" "$here/solvers.json" >"$job"

echo "comparing sgdm, rmsprop and adam on simple_cnn"
status=0
"$assayd" submit "$job" --server "$url" --watch || status=$?
echo
echo "jobs: $url/v1/jobs    the same with: $assayd list --server $url"
pid=$(daemon_pid)
if [ -n "$pid" ]; then
    echo "the daemon stays up; stop it with: kill $pid"
else
    echo "the daemon stays up; stop it where it was started"
fi
exit $status
