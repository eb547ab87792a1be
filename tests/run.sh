#!/bin/bash
# Runs cmocka binaries, one a processor, goes on after a failure, sums up, fails if any failed or none
# ran. What a failed binary said comes at the end, and last of all one line for each failure:
# "FAILED: binary: test: first line of what was wrong".
# usage: run.sh BINARY...    JOBS: how many at a time
here=$(dirname "$0")
# shellcheck source=tests/each.sh
. "$here/each.sh"
pass=0 fail=0
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

each_run "$work/said" env "$@"

for t in "$@"; do
    out=$(each_said "$work/said" "$t")
    rc=$(each_status "$work/said" "$t")
    p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1/p' "$out" | awk '{n+=$1} END {print n+0}')
    f=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s).*/\1/p' "$out" | awk '{n+=$1} END {print n+0}')
    [ "$rc" -ne 0 ] && [ "$f" -eq 0 ] && f=1
    if [ "$f" -ne 0 ]; then
        { echo "--- $t: exit $rc" && cat "$out"; } | tail -n 200 >>"$work/outputs"
        awk -v binary="$t" -v rc="$rc" -f "$here/failures.awk" "$out" >>"$work/failures"
    fi
    pass=$((pass + p)) fail=$((fail + f))
    echo "$t: $p passed, $f failed"
done
if [ "$fail" -ne 0 ]; then
    cat "$work/outputs" "$work/failures"
fi
echo "$pass passed, $fail failed"
[ "$fail" -eq 0 ] && [ "$pass" -gt 0 ]
