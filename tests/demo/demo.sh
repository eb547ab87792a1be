#!/bin/bash
# The demonstration: starts the daemon, imports Fashion-MNIST from Debian's package, compares three
# solvers on it, prints progress, a table and where to look. The daemon stays up afterwards.
# usage: demo.sh ASSAYD    environment: ASSAY_LISTEN, ASSAY_DATA_DIR as for the daemon
set -euo pipefail
assayd=$1
here=$(cd "$(dirname "$0")" && pwd)
images=/usr/share/datasets/fashion-mnist
listen=${ASSAY_LISTEN:-127.0.0.1:8470}
url=http://$listen
log=$(mktemp "${TMPDIR:-/tmp}/assay-demo.XXXXXX.log")

if ! curl -fsS "$url/readyz" >/dev/null 2>&1; then
    echo "starting assayd at $url (log: $log)"
    setsid "$assayd" >"$log" 2>&1 </dev/null &
    pid=$!
    for _ in $(seq 300); do
        curl -fsS "$url/readyz" >/dev/null 2>&1 && break
        kill -0 "$pid" 2>/dev/null || { cat "$log"; exit 1; }
        sleep 0.2
    done
fi

echo "importing 70,000 images of Fashion-MNIST"
dataset=$("$assayd" dataset create --server "$url" --name fashion-mnist --layout idx \
    --classes "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot" \
    "$images"/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz)
job=$(mktemp "${TMPDIR:-/tmp}/assay-demo.XXXXXX.json")
trap 'rm -f "$job"' EXIT
sed "s/\"kind\"/\"dataset\": \"$dataset\",\n  \"kind\"/" "$here/solvers.json" >"$job"

echo "comparing sgdm, rmsprop and adam on simple_cnn"
status=0
"$assayd" submit "$job" --server "$url" --watch || status=$?
echo
echo "service: $url/v1/jobs    stop it with: pkill -TERM -x assayd"
exit $status
