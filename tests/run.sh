#!/bin/bash
# Runs cmocka binaries, one a processor, goes on after a failure, sums up, fails if any failed or none
# ran. What a failed binary said comes at the end, and last of all one line for each failure:
# "FAILED: binary: test: first line of what was wrong".
# usage: run.sh BINARY...    JOBS: how many at a time
pass=0 fail=0
said=$(mktemp -d) || exit 2
trap 'rm -rf "$said"' EXIT
failures=$(dirname "$0")/failures.awk

# run_one BINARY NAME: leaves what it said in NAME.out and its exit status in NAME.rc.
run_one() {
    "$1" >"$2.out" 2>&1
    echo $? >"$2.rc"
}
export -f run_one
for t in "$@"; do
    printf '%s\0%s\0' "$t" "$said/${t//\//_}"
done | xargs -0 -r -n 2 -P "${JOBS:-$(nproc)}" bash -c 'run_one "$@"' bash

for t in "$@"; do
    name=$said/${t//\//_}
    rc=$(cat "$name.rc" 2>/dev/null || echo 127)
    p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1/p' "$name.out" | awk '{n+=$1} END {print n+0}')
    f=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s).*/\1/p' "$name.out" | awk '{n+=$1} END {print n+0}')
    [ "$rc" -ne 0 ] && [ "$f" -eq 0 ] && f=1
    if [ "$f" -ne 0 ]; then
        { echo "--- $t: exit $rc" && cat "$name.out"; } | tail -n 200 >>"$said/outputs"
        awk -v binary="$t" -v rc="$rc" -f "$failures" "$name.out" >>"$said/failures"
    fi
    pass=$((pass + p)) fail=$((fail + f))
    echo "$t: $p passed, $f failed"
done
if [ "$fail" -ne 0 ]; then
    cat "$said/outputs" "$said/failures"
fi
echo "$pass passed, $fail failed"
[ "$fail" -eq 0 ] && [ "$pass" -gt 0 ]
