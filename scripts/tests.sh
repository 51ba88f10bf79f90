# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by ./dev: the parts of `./dev test`. A part builds what it needs, runs, and says by
# `counted PASSED FAILED` how many tests it ran. A part that ends without having said so, or that
# ran nothing, counts as one failure. Its whole output is in build/test-logs/PART.log.

: "${root:?}" "${out:?}"
logs=$out/test-logs
fuzz_smoke_seconds=10
on_a_redis_server='redis_@(script*|muldiv|*contract)/*'
total_passed=0
total_failed=0

counted() { printf '%d %d\n' "$1" "$2" >>"$logs/$part.count"; }

# run_logged NAME COMMAND… - leaves the exit status in $status. (As the condition of an `if`, the
# command would run without `set -e`.)
run_logged() {
    local log=$logs/$1.log
    shift
    set +e
    (
        set -e
        "$@"
    ) >"$log" 2>&1
    status=$?
    set -e
}

# run_part NAME [ARGUMENT…] - runs part_NAME in a shell of its own, with `set -e` in force.
run_part() {
    local part=$1 started=$SECONDS passed=0 failed=0 status p f
    shift
    rm -f "$logs/$part.count"
    run_logged "$part" "part_$part" "$@"
    if [ -s "$logs/$part.count" ]; then
        while read -r p f; do passed=$((passed + p)) failed=$((failed + f)); done <"$logs/$part.count"
    fi
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
        say "$part: ended with status $status before it was through"
        failed=1
    elif [ $((passed + failed)) -eq 0 ]; then
        say "$part: ran no test"
        failed=1
    fi
    if [ "$failed" -gt 0 ]; then show_failure "$logs/$part.log"; fi
    say "$(printf '%-8s %4d passed, %d failed  (%d s)' "$part" "$passed" "$failed" $((SECONDS - started)))"
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
}

show_failure() {
    say "---- ${1#"$root"/}: what failed, and its end"
    grep -nE '^(\[----\]|\[FAIL\]|FAIL|E  )|error:|Sanitizer' "$1" | head -n 60 >&3 || true
    tail -n 40 "$1" >&3
    say "----"
}

# Programs of a build tree by the beginning of their names.
programs() {
    ninja -C "$out/$1" -t targets all | sed -n "s|^bin/\($2[a-z0-9_]*\): C_EXECUTABLE_LINKER.*|\1|p" | sort
}

# build_programs PRESET PREFIX - builds them all and leaves their names in $names.
build_programs() {
    configure "$1"
    ninja -C "$out/$1" build.ninja >/dev/null # a tree made before a program was added does not know it
    mapfile -t names < <(programs "$1" "$2")
    [ ${#names[@]} -gt 0 ] || { echo "no program named $2* in the $1 build"; return 1; }
    cmake --build --preset "$1" --target "${names[@]}"
}

# run_programs PRESET PREFIX COUNT - runs each; COUNT is called with name, log and exit status.
# Two run at a time: a program waits a good deal, and a fuzz target has one thread.
run_programs() {
    local preset=$1 prefix=$2 count=$3 name names begun=0
    build_programs "$preset" "$prefix"
    for name in "${names[@]}"; do
        if [ "$begun" -ge 2 ]; then wait -n; fi
        begun=$((begun + 1))
        run_program "$prefix" "$out/$preset/bin/$name" "$logs/$name" &
    done
    wait
    for name in "${names[@]}"; do
        cat "$logs/$name.log"
        "$count" "$name" "$logs/$name.log" "$(cat "$logs/$name.status")"
    done
}

# run_program PREFIX PROGRAM STEM - leaves STEM.log, and STEM.status with its exit status.
run_program() {
    local status=0
    rm -f "$3.status"
    program_command "$1" "$2" >"$3.log" 2>&1 || status=$?
    echo "$status" >"$3.status"
}

program_command() {
    case $1 in
    fuzz_) fuzz_program "$2" "$fuzz_smoke_seconds" ;;
    *) "$2" ;;
    esac
}

# Criterion takes no note of what a sanitizer says when a test's process ends: a leak is no failed test.
has_sanitizer_report() { grep -qE 'ERROR: [A-Za-z]+Sanitizer|WARNING: [A-Za-z]+Sanitizer|runtime error:' "$1"; }

count_criterion() {
    local tested passing line
    line=$(sed -n 's/.*Synthesis: Tested: \([0-9]*\) | Passing: \([0-9]*\) .*/\1 \2/p' "$2" | tail -n 1)
    read -r tested passing <<<"${line:-0 0}"
    local failed=$((tested - passing))
    if [ "$tested" -eq 0 ] || { [ "$3" -ne 0 ] && [ "$failed" -eq 0 ]; }; then failed=$((failed + 1)); fi
    if has_sanitizer_report "$2"; then failed=$((failed + 1)); fi
    if [ "$failed" -gt 0 ]; then echo "FAILED: $1, status $3"; fi
    counted "$passing" "$failed"
}

count_program() {
    if [ "$3" -eq 0 ] && ! has_sanitizer_report "$2"; then counted 1 0; else echo "FAILED: $1, status $3"; counted 0 1; fi
}

# run_pytest ARGUMENT… - a skipped test did not run, so it counts as failed.
run_pytest() {
    local xml=$logs/$part.xml status=0 sums
    rm -f "$xml"
    "$out/venv/bin/python" -m pytest -c "$root/tests/pytest.ini" --rootdir "$root" \
        --junitxml "$xml" "$@" || status=$?
    sums=$(sed -n 's/.*<testsuite [^>]*errors="\([0-9]*\)" failures="\([0-9]*\)" skipped="\([0-9]*\)" tests="\([0-9]*\)".*/\1 \2 \3 \4/p' "$xml")
    local errors failures skipped tests
    read -r errors failures skipped tests <<<"$sums"
    counted $((tests - errors - failures - skipped)) $((errors + failures + skipped))
    return "$status"
}

part_unit() { run_programs asan unit_ count_criterion; }

part_stress() {
    export TSAN_OPTIONS="halt_on_error=1 suppressions=$root/tests/stress/tsan.supp"
    run_programs tsan stress_ count_program
}

part_fuzz() { run_programs fuzz fuzz_ count_program; }

part_arch() { run_pytest "$root/tests/arch"; }

# Of the asan build: the stress programs run with another sanitizer.
e2e_programs=(weir weirctl weir_observed weir_slow_store client_threads libweir)

part_e2e() {
    build_preset asan --target "${e2e_programs[@]}"
    build_preset release
    # Four files at a time: most tests wait for a moment or for another process.
    run_pytest "$root/tests/e2e" --ignore "$root/tests/e2e/test_drain.py" -n 4 --dist loadfile "$@"
}

# By itself: it has to keep up a load.
part_drain() {
    build_preset release
    run_pytest "$root/tests/e2e/test_drain.py"
}

part_docs() {
    build_preset asan --target weir stress_limit_guarantees
    run_pytest "$root/tests/docs"
}

# The replayer closes with `N passed, N failed, N left out`.
replay() {
    local log=$logs/$part.replay.log status=0 passed failed
    "$out/venv/bin/python" "$root/tests/vectors/run.py" --bin "$out/asan/bin" "$@" | tee "$log" || status=$?
    read -r passed failed < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, .*/\1 \2/p' "$log")
    counted "$passed" "$failed"
    return "$status"
}

part_vectors() {
    build_preset asan --target weir weir_slow_store
    replay "$@"
}

# What matters of the tests with Redis, with Valkey in its place. The replay mostly waits.
part_valkey() {
    build_preset asan --target "${e2e_programs[@]}" unit_store
    TEST_REDIS_SERVER=$(find_valkey_server)
    export TEST_REDIS_SERVER TEST_SEQUENCES=1000
    "$TEST_REDIS_SERVER" --version | grep '^Valkey server'
    replay --store redis --areas 'ext-*' --jobs 6 &
    local replaying=$! status=0
    "$out/asan/bin/unit_store" --filter "$on_a_redis_server" >"$logs/valkey.unit_store.log" 2>&1 || status=$?
    cat "$logs/valkey.unit_store.log"
    count_criterion unit_store "$logs/valkey.unit_store.log" "$status"
    status=0
    run_pytest "$root/tests/e2e" -m valkey -n 4 --dist loadfile || status=$?
    wait "$replaying" || status=$?
    return "$status"
}

run_tests() {
    local status
    mkdir -p "$logs"
    rm -f "$logs/redis-faults.txt"
    run_logged install install_for_tests
    if [ "$status" -ne 0 ]; then
        show_failure "$logs/install.log"
        total_failed=1
    fi
    run_part arch
    run_part unit
    if [ "${1:-all}" = quick ]; then
        # Without the other store, and what takes long.
        local left_out=()
        for name in redis\* over_limit_cache install flood xds_reports memory_guard; do
            left_out+=(--ignore-glob "$root/tests/e2e/test_$name.py")
        done
        run_part e2e --store local "${left_out[@]}"
        run_part vectors --quick --store local
    else
        run_part stress
        run_part fuzz
        run_part e2e
        run_part drain
        run_part valkey
        run_part vectors
        run_part docs
    fi
    if [ -s "$logs/redis-faults.txt" ]; then
        say "Redis under faults:"
        say "$(cat "$logs/redis-faults.txt")"
    fi
    say "$total_passed passed, $total_failed failed"
    [ "$total_failed" -eq 0 ]
}
