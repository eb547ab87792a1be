#!/bin/bash
# The acceptance rows of the spine, each as one JSON line or more; long, on an otherwise idle machine.
# usage: run.sh [ROW...]    a row is named as in row() below: 1 to 12 of the spine, 3.* of transfer and sequences, 4.* of page and
#                           operation, 5.* of the catalogue
set -u
cd "$(dirname "$0")/../.." || exit 2
export ASSAYD=${ASSAYD:-$PWD/build/release/assayd}
rows=${*:-1 2 3 4 5 6 7 8 9 10 11 12}
failed=0
py=/usr/bin/python3
driver=build/release/tests/accept/train_driver
images=build/release/tests/accept/image_driver
lstm=tests/accept/lstm_driver

counted() { # row what command...: a suite's closing line as a JSON line
    local row=$1 what=$2 out
    shift 2
    out=$("$@" 2>&1)
    local rc=$?
    printf '{"row": %s, "what": "%s", "passed": %s, "closing": "%s"}\n' "$row" "$what" \
        "$([ $rc -eq 0 ] && echo true || echo false)" "$(printf '%s\n' "$out" | grep -E 'passed|hold|agree' | tail -1)"
    return $rc
}
row() {
    case $1 in
    1 | 4.1) tests/accept/bare_machine.sh root demo && tests/accept/bare_machine.sh root test &&
        tests/accept/bare_machine.sh user demo && tests/accept/bare_machine.sh user deps-test unit api ;;
    2) make -s "$driver" && $py tests/accept/peer_simple_cnn.py "$driver" correctness ;;
    3) make -s "$driver" && $py tests/accept/peer_simple_cnn.py "$driver" speed ;;
    4) counted 4 "kernels and layers in float" make unit && counted 4 "gradients in double" make MODE=f64 unit ;;
    5) $py tests/accept/determinism.py ;;
    6) $py tests/chaos/chaos.py --kills 25 ;;
    7) make -s MODE=asan all && counted 7 "bad requests under ASan" make MODE=asan api-bad ;;
    8) counted 8 "public cases" tests/lint/check_cases.py ;;
    9) $py tests/accept/dashboards.py ;;
    10) $py tests/accept/many_trials.py ;;
    11) counted 11 "planted faults" $py tests/mutants/run.py ;;
    12) $py tests/accept/second_worker.py ;;
    3.1) make -s "$images" && $py tests/accept/peer_image_networks.py "$images" weights &&
        $py tests/accept/peer_image_networks.py "$images" random \
            --networks squeezenet1_0,squeezenet1_1,mobilenet_v2,efficientnet_lite0 ;;
    3.5) $py tests/accept/sequence_regression.py ;;
    5.7) $py tests/accept/turbofan.py ;;
    3.8s) $py tests/accept/determinism.py --kind sequence_regression ;;
    3.8c) $py tests/accept/determinism.py --kind sequence_classification ;;
    3.2) $py tests/accept/transfer.py accuracy ;;
    3.4) $py tests/accept/transfer.py head ;;
    3.8t) $py tests/accept/transfer.py bits ;;
    4.2) make -s "$images" && $py tests/accept/photographs.py imagenet && $py tests/accept/photographs.py demo &&
        $py tests/accept/photographs.py fallback ;;
    3.10) $py tests/accept/grad_cam.py ;;
    4.4) $py tests/accept/page_runs.py ;;
    4.5) $py tests/accept/page.py ;;
    3.6) make -s "build/release/$lstm" && $py tests/accept/peer_lstm.py "build/release/$lstm" speed ;;
    3.7) make -s MODE=f64 "build/f64/$lstm" && $py tests/accept/peer_lstm.py "build/f64/$lstm" double ;;
    5.rnn) make -s MODE=f64 "build/f64/$lstm" &&
        $py tests/accept/peer_lstm.py "build/f64/$lstm" double --cells gru,bilstm,bigru ;;
    5.rnns) make -s "build/release/$lstm" && $py tests/accept/peer_lstm.py "build/release/$lstm" speed --cells gru,bilstm ;;
    3.3) make -s "$images" && $py tests/accept/peer_image_networks.py "$images" speed ;;
    5.1) # gradients in double: in float one value rounded to the other side of a ReLU moves them by more than any bound;
        # without ReLUs (smooth) float agrees too
        make -s "$images" && make -s MODE=f64 build/f64/tests/accept/image_driver &&
        $py tests/accept/peer_image_networks.py "$images" random --networks resnet18,resnet50,googlenet,inception_v3 &&
        $py tests/accept/peer_image_networks.py build/f64/tests/accept/image_driver learn --double --batch 3 --steps 5 \
            --networks resnet18,resnet50,googlenet,inception_v3 &&
        $py tests/accept/peer_image_steps.py "$images" smooth --size 96 --batch 16 --networks resnet18,resnet50 ;;
    5.6) make -s "$images" && make -s MODE=f64 build/f64/tests/accept/image_driver &&
        $py tests/accept/peer_image_steps.py build/f64/tests/accept/image_driver steps --double --batch 4 --steps 5 \
            --networks googlenet,inception_v3 &&
        $py tests/accept/peer_image_steps.py "$images" steps --batch 16 --steps 5 --networks googlenet,inception_v3 &&
        $py tests/accept/image_sweep.py ;;
    5.2) make -s MODE=f64 build/f64/tests/accept/image_driver && $py tests/accept/peer_shrinkage.py build/f64/tests/accept/image_driver ;;
    5.files) # needs pip's onnx, onnxruntime and safetensors beside Debian's python3-torch
        make -s build/release/tests/accept/onnx_driver build/release/tests/accept/onnx_read_driver &&
            python3 tests/accept/onnx_files.py build/release/tests/accept ;;
    5.attn) make -s MODE=f64 "build/f64/$lstm" && $py tests/accept/peer_attention.py "build/f64/$lstm" ;;
    5.4) make -s MODE=f64 build/f64/tests/accept/solver_driver && $py tests/accept/peer_solvers.py build/f64/tests/accept/solver_driver ;;
    3.9) counted 3.9 "readers fuzzed for an hour" make -s fuzz FUZZ_SECONDS=280 ;;
    5.8) make -s build/release/tests/unit/core/network/test_broken build/fuzz/fuzz_network build/fuzz/fuzz_onnx &&
        counted 5.8 "broken descriptions" tests/run.sh build/release/tests/unit/core/network/test_broken &&
        counted 5.8 "descriptions and ONNX fuzzed" tests/fuzz/run.sh 600 build/fuzz/fuzz_network build/fuzz/fuzz_onnx ;;
    5.5) $py tests/accept/signals.py ;;
    3.11 | 5.3) # needs Debian's libonnx-testdata
        make -s build/release/tests/numeric/test_onnx_{cases,functions,recurrent} && [ -d /usr/share/libonnx-testdata/data ] &&
            counted 3.11 "cases of ONNX" build/release/tests/numeric/test_onnx_cases &&
            counted 3.11 "cases of ONNX for functions, sums and products" build/release/tests/numeric/test_onnx_functions &&
            counted 3.11 "cases of ONNX for LSTM and GRU" build/release/tests/numeric/test_onnx_recurrent ;;
    4.6) # needs root and debootstrap
        local image
        image=$(mktemp -d "${TMPDIR:-/tmp}/assay-machine.XXXXXX") && chmod 755 "$image"
        counted 4.6 "docker/ in chroots" docker/check.sh run "$image/root" && $py tests/accept/backup.py "$image/root"
        local rc=$?
        rm -rf --one-file-system "$image"
        return $rc ;;
    *) echo "no row $1" >&2; return 2 ;;
    esac
}
for r in $rows; do
    row "$r" || failed=1
done
exit $failed
