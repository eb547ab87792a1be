#!/bin/bash
# Replays each target's corpus, then fuzzes it, one a processor. usage: run.sh SECONDS TARGET...
# New inputs stay under build/fuzz/corpus; a finding is left in build/fuzz and fails the run.
# shellcheck source=tests/each.sh
. "$(dirname "$0")/../each.sh"
export SECONDS_EACH=$1
shift
passed=0 failed=0

fuzz_one() {
    local name=${1##*/}
    local corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus" "tests/fuzz/corpus/$name"
    "$1" -max_total_time="$SECONDS_EACH" -rss_limit_mb=2048 -timeout=10 -print_final_stats=0 \
        -artifact_prefix="build/fuzz/$name-" "$corpus" "tests/fuzz/corpus/$name"
}
each_run build/fuzz/said fuzz_one "$@"

for target in "$@"; do
    if [ "$(each_status build/fuzz/said "$target")" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED ${target##*/}"
        tail -n 30 "$(each_said build/fuzz/said "$target")"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
