#!/bin/bash
# Replays each target's corpus, then fuzzes it, one a processor. usage: run.sh SECONDS TARGET...
# New inputs stay under build/fuzz/corpus; a finding is left in build/fuzz and fails the run.
export SECONDS_EACH=$1
shift
passed=0 failed=0

# fuzz_one TARGET: leaves what it said in build/fuzz/NAME.log and its exit status in NAME.rc.
fuzz_one() {
    local name=${1##*/}
    local corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus" "tests/fuzz/corpus/$name"
    "$1" -max_total_time="$SECONDS_EACH" -rss_limit_mb=2048 -timeout=10 -print_final_stats=0 \
        -artifact_prefix="build/fuzz/$name-" "$corpus" "tests/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1
    echo $? >"build/fuzz/$name.rc"
}
export -f fuzz_one
mkdir -p build/fuzz
rm -f build/fuzz/*.rc
printf '%s\0' "$@" | xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" bash -c 'fuzz_one "$@"' bash

for target in "$@"; do
    name=${target##*/}
    if [ "$(cat "build/fuzz/$name.rc" 2>/dev/null)" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name"
        tail -n 30 "build/fuzz/$name.log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
