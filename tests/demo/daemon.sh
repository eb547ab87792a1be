# shellcheck shell=bash disable=SC2154
# Part of demo.sh: the daemon.

pid_file=${TMPDIR:-/tmp}/assay-demo-$(id -u)-${listen##*:}.pid

start_daemon() {
    local log pid place=/var/lib/assay
    [ "$(id -u)" -eq 0 ] || place=$HOME/.local/share/assay
    log=$(mktemp "${TMPDIR:-/tmp}/assay-demo.XXXXXX.log")
    echo "starting assayd at $url"
    echo "  data directory: ${ASSAY_DATA_DIR:-$place}    log: $log"
    setsid "$assayd" >"$log" 2>&1 </dev/null &
    pid=$!
    echo "$pid" >"$pid_file"
    for _ in $(seq 300); do
        curl -fsS "$url/readyz" >/dev/null 2>&1 && return
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.2
    done
    cat "$log"
    exit 1
}

# The pid of the daemon that an earlier demonstration started, if that one still runs.
daemon_pid() {
    local pid
    pid=$(cat "$pid_file" 2>/dev/null) || return 0
    case $(readlink "/proc/$pid/exe" 2>/dev/null || true) in
    */assayd*) echo "$pid" ;;
    esac
}
