#!/bin/bash
# The demonstration: starts the daemon, brings real data in (once) and runs three jobs on it:
#   solvers      sgdm, rmsprop and adam on Fashion-MNIST
#   photographs  a pretrained network with a new head on photographs, beside one from scratch
#   engines      remaining life of turbofans: thresholds by depths of an LSTM
# Prints progress, one table at the end and where to look. The daemon stays up afterwards.
# usage: demo.sh ASSAYD
# environment: ASSAY_LISTEN, ASSAY_DATA_DIR as for the daemon; CMAPSS: a folder with the files of
#              C-MAPSS, instead of simulated engines
set -euo pipefail
assayd=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
listen=${ASSAY_LISTEN:-127.0.0.1:8470}
url=http://$listen
python=/usr/bin/python3
export ASSAY_SERVER=$url
scratch=$(mktemp -d "${TMPDIR:-/tmp}/assay-demo.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/demo/daemon.sh
. "$here/daemon.sh"
# shellcheck source=tests/demo/data.sh
. "$here/data.sh"
# shellcheck source=tests/demo/weights.sh
. "$here/weights.sh"
jobs=() failed=0

# job WHAT FILE KEY=VALUE...: fills in the @KEY@ of FILE, submits it and shows its progress. The id
# of the job becomes the last of `jobs`; false when not every trial completed.
job() {
    local what=$1 file=$scratch/job.json status=0 pair id
    cp "$here/$2" "$file"
    shift 2
    for pair in "$@"; do
        sed -i "s|@${pair%%=*}@|${pair#*=}|" "$file"
    done
    echo
    echo "$what"
    "$assayd" submit "$file" --watch >"$scratch/results" || status=$?
    id=$(head -1 "$scratch/results")
    [ -z "$id" ] || jobs+=("$id")
    return "$status"
}

solvers() {
    local dataset
    dataset=$(fashion_mnist) || return 1
    job "comparing sgdm, rmsprop and adam on Fashion-MNIST" solvers.json "DATASET=$dataset"
}

# The same network, epochs and held-out photographs, with weights and without.
photographs() {
    local dataset status=0
    choose_weights && dataset=$(photograph_set "$image_size") || return 1
    job "transfer learning on photographs: $network_title with weights of $weights_title, a new head" \
        photographs.json "DATASET=$dataset" "NAME=photographs, $weights_title" "NETWORK=$network" \
        "WEIGHTS={\"$network_name\": \"$weights\"}" "FREEZE=$freeze" || status=$?
    job "the same network from scratch" photographs.json "DATASET=$dataset" \
        "NAME=photographs, from scratch" "NETWORK=$network" "WEIGHTS=null" "FREEZE=none" || status=$?
    return "$status"
}

engines() {
    local dataset
    dataset=$(engine_set) || return 1
    job "remaining life of turbofans: three thresholds, one to three layers of LSTM" engines.json \
        "DATASET=$dataset"
}

began=$(date +%s)
echo "this takes some minutes on two cores"
if curl -fsS "$url/readyz" >/dev/null 2>&1; then
    echo "assayd runs already at $url"
else
    start_daemon
fi
solvers || failed=1
photographs || failed=1
engines || failed=1

echo
$python "$here/table.py" "$url" "${jobs[@]}" || failed=1
echo
echo "$(($(date +%s) - began)) seconds; the dashboard: $url/"
pid=$(daemon_pid)
if [ -n "$pid" ]; then
    echo "the daemon stays up; stop it with: kill $pid"
else
    echo "the daemon stays up; stop it where it was started"
fi
exit $failed
