# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by ./dev: what `./dev run` says once the server serves. Expects $out (build directory).

: "${out:?}"

# wait_and_greet PID PORT_FILE RULES_DIR - prints how to call the server once it has said where it
# listens, or nothing when it ended before that.
wait_and_greet() {
    local pid=$1 port_file=$2 rules=$3 address example curl method grpcurl=grpcurl flags=-plaintext note=
    until [ -s "$port_file" ]; do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.05
    done
    address=$(sed -n 's/^grpc //p' "$port_file" | head -n 1)
    rm -f "$port_file"
    case $address in
    0.0.0.0:* | '[::]':*) address=127.0.0.1:${address##*:} ;;
    unix:*) flags='-plaintext -unix' address=$(printf %q "$address") ;;
    esac
    if ! command -v grpcurl >/dev/null; then
        grpcurl=build/go/bin/grpcurl
        [ -x "$grpcurl" ] || note=$'\n(grpcurl is not installed here; ./dev test puts one at build/go/bin.)'
    fi
    example=$("$out/bin/weir" example "$rules" 2>/dev/null) || {
        echo "weir serves $rules on $address. No rule there has a limit to try."
        return 0
    }
    curl=$(sed -n 's/^grpcurl -plaintext //p' <<<"$example")
    method=${curl##* }
    curl=${curl% 127.0.0.1:8081 *}
    cat <<EOF
weir serves $rules on $address. Try it:
  $grpcurl $flags $curl ${address#unix:} $method
  build/bin/weirctl check --target $address $(sed -n 's/^weirctl check //p' <<<"$example")$note
EOF
}
