# shellcheck shell=bash
# For the scripts that source this: runs many binaries, one a processor (JOBS: another number).
#
# each_run DIR COMMAND BINARY...  Runs `COMMAND BINARY` for each, in this order; COMMAND is a
#                                 program or a function of the script. DIR is emptied first.
# each_said DIR BINARY            Prints the name of the file with what it said.
# each_status DIR BINARY          Prints its exit status, 127 when it never ended.

each_said() {
    printf '%s/%s.out' "$1" "${2//\//_}"
}

each_status() {
    cat "$(each_said "$1" "$2").rc" 2>/dev/null || echo 127
}

# each_one DIR COMMAND BINARY
each_one() {
    local said
    said=$(each_said "$1" "$3")
    "$2" "$3" >"$said" 2>&1
    echo $? >"$said.rc"
}

each_run() {
    local dir=$1 command=$2
    shift 2
    rm -rf "$dir"
    mkdir -p "$dir"
    export -f each_said each_one
    [ "$(type -t "$command")" != function ] || export -f "${command?}"
    printf '%s\0' "$@" |
        xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" bash -c 'each_one "$@"' bash "$dir" "$command"
}
