#!/bin/bash
# Everything that CI runs, suite after suite; goes on after a failure. Whoever sees only the end of
# the output sees what failed: the sum comes last, before it a line for each failure.
# usage: all.sh   (from make test, which installs what it needs first)
set -u
cd "$(dirname "$0")/.." || exit 2
export WERROR=-Werror ASSAY_TEST_DATA=${ASSAY_TEST_DATA:-$PWD/../shared/data}
logs=build/logs
mkdir -p "$logs"
passed=0 failed=0 began=$(date +%s) failures=()

# failures_of NAME LOG: a line for each failure that the suite's output tells, else its last words.
failures_of() {
    local name=$1 log=$2 lines
    lines=$(grep '^FAILED: ' "$log")
    [ -n "$lines" ] || lines=$(grep -E '^(FAILED|ERROR) ' "$log")
    [ -n "$lines" ] || lines=$(grep -E '(^|[ :])error:|Traceback|^make.*\*\*\*' "$log" | head -n 3)
    [ -n "$lines" ] || lines=$(tail -n 2 "$log")
    printf '%s\n' "$lines" | sed -E "s/^(FAILED|ERROR)[: ]+//; s/^/FAILED: $name: /" | cut -c 1-220
}

# suite NAME COMMAND...: runs it, adds up the last "N passed[, N failed]" line of its output.
suite() {
    local name=$1 log=$logs/$1.log t0 rc p f
    shift
    t0=$(date +%s)
    "$@" >"$log" 2>&1
    rc=$?
    p=$(grep -oE '[0-9]+ passed' "$log" | tail -1 | cut -d' ' -f1)
    f=$(grep -oE '[0-9]+ passed.*|[0-9]+ failed.*' "$log" | tail -1 | grep -oE '[0-9]+ (failed|error)' | awk '{n+=$1} END {print n+0}')
    if [ -z "$p" ]; then
        p=0
        [ "$f" -gt 0 ] || f=1
    fi
    [ "$rc" -ne 0 ] && [ "$f" -eq 0 ] && f=1
    passed=$((passed + p)) failed=$((failed + f))
    printf '%-14s %5d passed %4d failed  %4ds\n' "$name" "$p" "$f" "$(($(date +%s) - t0))"
    if [ "$f" -ne 0 ]; then
        echo "--- $log"
        tail -n 60 "$log"
        mapfile -t -O "${#failures[@]}" failures < <(failures_of "$name" "$log")
    fi
}

suite lint tests/lint/run.sh
suite unit make -j"$(nproc)" unit
suite f64 make -j"$(nproc)" MODE=f64 unit
suite api make api
suite browser make browser
suite chaos-short make chaos-short
suite fuzz-short make fuzz-short
suite asan make -j"$(nproc)" MODE=asan unit
suite api-asan make MODE=asan api-bad
suite tsan make -j"$(nproc)" MODE=tsan unit-server

echo "$(($(date +%s) - began)) seconds"
if [ "${#failures[@]}" -gt 0 ]; then
    printf '%s\n' "${failures[@]:0:7}"
    [ "${#failures[@]}" -le 7 ] || echo "and $((${#failures[@]} - 7)) more above"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
