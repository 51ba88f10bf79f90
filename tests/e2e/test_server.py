# SPDX-License-Identifier: Apache-2.0
"""The process: listening, options, settings, caps, errors, its end."""
import os
import re
import socket
import stat
import time

import pytest
import rawh2
import weirserver
from ports import free_port
from weirserver import METHOD, same

RULES = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 5}}\n"
GOOD = weirserver.oraclelib.build_request({"domain": "d", "desc": [[["k", "a"]]]}).SerializeToString()
PEEK = {"entries": [["k", "a"]], "hits": 0}
# Exit codes of docs/operations.md.
USAGE, REFUSED, NO_INPUT, ADDRESS_TAKEN = 64, 65, 66, 69
NO_RESOURCES, CANNOT_CREATE, CANNOT_WRITE = 71, 73, 74


def weir(*words, env=None, cwd=None):
    return weirserver.run(weirserver.binary("weir"), *words, env=env, cwd=cwd)


@pytest.fixture
def rules(tmp_path):
    weirserver.write_rules(tmp_path / "rules", RULES)
    return str(tmp_path / "rules")


# Listening

def test_port_file_names_the_free_port(launch):
    server = launch(RULES)
    assert server.address == f"127.0.0.1:{server.port}"
    assert server.port > 0
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))


def test_two_servers_do_not_meet(launch):
    one, two = launch(RULES), launch(RULES)
    same("OK: OK 4 of 5/HOUR", one.caller().call("d", [["k", "a"]]))
    same("OK: OK 4 of 5/HOUR", two.caller().call("d", [["k", "a"]]))


def test_taken_port_is_an_error(launch, rules):
    server = launch(RULES)
    result = weir("--rules", rules, "--grpc-listen", server.address)
    assert result.returncode == ADDRESS_TAKEN
    assert server.address in result.stderr
    assert "in use" in result.stderr.lower()
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))


def test_dual_stack(launch):
    server = launch(RULES, listen="[::]:0")
    same("OK: OK 4 of 5/HOUR", server.caller(f"127.0.0.1:{server.port}").call("d", [["k", "a"]]))
    same("OK: OK 3 of 5/HOUR", server.caller(f"[::1]:{server.port}").call("d", [["k", "a"]]))


@pytest.fixture
def unix_path(tmp_path):
    return str(tmp_path / "s")


def test_unix_path(launch, unix_path):
    server = launch(RULES, listen="unix:" + unix_path)
    assert stat.S_ISSOCK(os.stat(unix_path).st_mode)
    assert stat.S_IMODE(os.stat(unix_path).st_mode) == 0o660
    same("OK: OK 4 of 5/HOUR", server.caller("unix:" + unix_path).call("d", [["k", "a"]]))


def test_dead_unix_path_is_replaced(launch, unix_path):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(unix_path)
    launch(RULES, listen="unix:" + unix_path)
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(unix_path)


def test_live_unix_path_is_an_error(launch, rules, unix_path):
    server = launch(RULES, listen="unix:" + unix_path)
    result = weir("--rules", rules, "--grpc-listen", "unix:" + unix_path)
    assert result.returncode == ADDRESS_TAKEN
    assert unix_path in result.stderr
    same("OK: OK 4 of 5/HOUR", server.caller("unix:" + unix_path).call("d", [["k", "a"]]))


# Options and settings

@pytest.mark.parametrize("words, named", [
    (["--no-such-option"], "--no-such-option"),
    (["--workers", "many"], "--workers"),
    (["--workers", "-1"], "--workers"),
    (["--grpc-listen", "nonsense"], "--grpc-listen"),
    (["--grpc-listen", "127.0.0.1:70000"], "--grpc-listen"),
    (["--log-level", "shout"], "--log-level"),
    (["--store", "paper"], "--store"),
    (["--failure-mode", "pray"], "--failure-mode"),
    (["--failure-mode", "local"], "--failure-mode"),
    (["--max-counters", "12x"], "--max-counters"),
    (["--workers"], "--workers"),
    (["--slots", "0"], "--slots"),
    (["--drain-timeout", "soon"], "--drain-timeout"),
    (["--unix-socket-mode", "9"], "--unix-socket-mode"),
])
def test_bad_option_is_named(rules, words, named):
    result = weir("--rules", rules, *words)
    assert result.returncode == USAGE, result.stderr
    assert named in result.stderr


@pytest.mark.parametrize("name, value", [
    ("SHADOW_MODE", "perhaps"),
    ("QUOTA_MODE", "2"),
    ("GRPC_PORT", "http"),
    ("GRPC_PORT", "70000"),
    ("MERGE_DOMAIN_CONFIG", "maybe"),
    ("LIMIT_RESPONSE_HEADERS_ENABLED", "x"),
    ("RESPONSE_DYNAMIC_METADATA", "x"),
])
def test_bad_setting_is_named(rules, name, value):
    result = weir("--rules", rules, env={name: value})
    assert result.returncode == USAGE, result.stderr
    assert name in result.stderr
    assert value in result.stderr


def test_missing_rules_are_an_error(tmp_path):
    missing = str(tmp_path / "nowhere")
    result = weir("--rules", missing, "--grpc-listen", "127.0.0.1:0")
    assert result.returncode == NO_INPUT
    assert missing in result.stderr


def test_port_file_that_cannot_be_written_is_an_error(rules, tmp_path):
    path = str(tmp_path / "nowhere" / "ports")
    result = weir("--rules", rules, "--grpc-listen", "127.0.0.1:0", "--port-file", path)
    assert result.returncode == CANNOT_CREATE, result.stderr
    assert path in result.stderr


def test_port_file_is_not_put_in_place_of_something_else(rules, tmp_path):
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    result = weir("--rules", rules, "--grpc-listen", "127.0.0.1:0", "--port-file", fifo)
    assert result.returncode == CANNOT_CREATE, result.stderr
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)


@pytest.mark.parametrize("words", [["--help"], ["--list-options"], ["--list-metrics"], ["check", "rules"]])
def test_output_that_cannot_be_written_is_an_error(rules, words):
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = weirserver.run(weirserver.binary("weir"), *words, cwd=os.path.dirname(rules), stdout=full)
    assert result.returncode == CANNOT_WRITE, result.stderr
    assert "could not be written" in result.stderr


def test_no_descriptors_are_an_error(rules):
    many = ["--grpc-listen", "127.0.0.1:0"] * 50
    result = weirserver.run("prlimit", "--nofile=48", weirserver.binary("weir"), "--rules", rules, *many)
    assert result.returncode == NO_RESOURCES, result.stderr
    assert "Too many open files" in result.stderr


def test_exit_codes_are_those_of_the_documentation():
    with open(os.path.join(weirserver.ROOT, "docs", "operations.md"), encoding="utf-8") as f:
        documented = re.findall(r"^\| (\d+) \|", f.read(), re.M)
    assert [int(code) for code in documented] == [
        0, USAGE, REFUSED, NO_INPUT, ADDRESS_TAKEN, NO_RESOURCES, CANNOT_CREATE, CANNOT_WRITE, 1]


def test_nothing_is_served_open_that_was_to_be_closed(rules):
    result = weir("--rules", rules, env={"GRPC_SERVER_USE_TLS": "true", "GRPC_PORT": "0"})
    assert result.returncode == USAGE, result.stderr
    assert "GRPC_SERVER_USE_TLS" in result.stderr
    assert "serving gRPC" not in result.stderr


def test_the_incumbents_socket_is_served_in_place_of_its_port(launch, tmp_path):
    server = by_settings(launch, tmp_path, free_port(), GRPC_UDS=tmp_path / "socket", USE_STATSD="false", PORT="8080")
    assert server.address == f"unix:{tmp_path / 'socket'}"
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))
    assert "have no effect in this version: PORT\n" in server.log()


@pytest.mark.parametrize("flag, part", [
    ("--help", "--grpc-listen"), ("--list-options", "GRPC_PORT"), ("--version", "weir 0."),
])
def test_tables_are_printed(flag, part):
    result = weir(flag)
    assert result.returncode == 0
    assert part in result.stdout


def test_each_metric_has_a_name_and_a_help_text():
    result = weir("--list-metrics")
    assert result.returncode == 0
    rows = [re.fullmatch(r"([a-z][a-z0-9_]*) +([A-Z].*\.)", line) for line in result.stdout.splitlines()]
    assert all(rows), result.stdout
    names = [row.group(1) for row in rows]
    assert len(names) > 30
    assert len(set(names)) == len(names)
    assert {"calls_total", "calls_over_limit_total", "store_full_total", "failure_mode_deny_total"} <= set(names)


def by_settings(launch, tmp_path, port, **env):
    weirserver.write_rules(tmp_path / "root" / "sub" / "app", {"any-name": RULES})
    env = {"GRPC_HOST": "127.0.0.1", "GRPC_PORT": port, "RUNTIME_ROOT": tmp_path / "root",
           "RUNTIME_SUBDIRECTORY": "sub", "RUNTIME_APPDIRECTORY": "app", **env}
    return launch({}, by_flags=False, env=env)


def test_settings_of_the_reference(launch, tmp_path):
    port = free_port()
    server = by_settings(launch, tmp_path, port)
    assert server.address == f"127.0.0.1:{port}"
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))


def test_settings_without_effect_are_taken(launch, tmp_path):
    server = by_settings(launch, tmp_path, free_port(), NEAR_LIMIT_RATIO="0.8", EXPIRATION_JITTER_MAX_SECONDS="300",
                         LOCAL_CACHE_SIZE_IN_BYTES="0", CACHE_KEY_PREFIX="x", USE_STATSD="false")
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))


def test_a_flag_beats_a_setting(launch):
    server = launch(RULES, env={"GRPC_PORT": "1", "GRPC_HOST": "192.0.2.1"})
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))


def test_shadow_mode_setting(launch):
    caller = launch(RULES, env={"SHADOW_MODE": "true"}).caller()
    same("OK: OVER 0 of 5/HOUR", caller.call("d", {"entries": [["k", "a"]], "hits": 9}))


def test_header_names_by_settings(launch):
    caller = launch(RULES, env={"LIMIT_RESPONSE_HEADERS_ENABLED": "true", "LIMIT_LIMIT_HEADER": "x-l",
                                "LIMIT_REMAINING_HEADER": "x-r", "LIMIT_RESET_HEADER": "x-s"}).caller()
    reply = caller.call("d", [["k", "a"]])
    assert reply["headers"][:2] == [["x-l", "5"], ["x-r", "4"]]
    assert reply["headers"][2][0] == "x-s"


# Files at start

def test_one_bad_file_leaves_the_good_one(launch):
    server = launch({"good.yaml": RULES, "bad.yaml": "domain: e\ndescriptors: 7\n", ".dot.yaml": "domain: f\n", "notes.txt": "x"})
    assert "bad.yaml:2:" in server.log()
    assert "notes.txt" in server.log()
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))
    same("OK: bare", server.caller().call("f", [["k", "a"]]))


def test_empty_directory_is_a_configuration(launch):
    same("OK: bare", launch({}).caller().call("d", [["k", "a"]]))


def test_merged_domain_by_setting(launch):
    files = {"a.yaml": RULES, "b.yaml": RULES.replace("key: k", "key: m")}
    caller = launch(files, env={"MERGE_DOMAIN_CONFIG": "true"}).caller()
    same("OK: OK 4 of 5/HOUR, OK 4 of 5/HOUR", caller.call("d", [["k", "a"]], [["m", "a"]]))


# Caps and errors

@pytest.mark.parametrize("data, code, field", [
    (b"", "INVALID_ARGUMENT", "domain"),
    (bytes.fromhex("1200"), "INVALID_ARGUMENT", "domain"),
    (bytes.fromhex("0a0164"), "INVALID_ARGUMENT", "descriptors"),
    (bytes.fromhex("0a0164120e0a060a016b12017612040805100b"), "INVALID_ARGUMENT", "limit.unit"),
    (bytes.fromhex("0aff"), "INVALID_ARGUMENT", None),
    (bytes.fromhex("0a02c328"), "INVALID_ARGUMENT", None),
    (bytes.fromhex("0e"), "INVALID_ARGUMENT", None),
])
def test_bad_request_is_explained(launch, data, code, field):
    got, message, fields = launch(RULES).caller().error(data)
    assert got == code
    assert message
    if field:
        assert any(field in f for f in fields), fields


def test_request_size_cap(launch):
    caller = launch(RULES).caller()
    four_mib = 4 << 20
    same("OK: bare", caller.call("d", [["k", "a"], ["v", "x" * (four_mib - 100)]]))
    assert caller.call("d", [["k", "a"], ["v", "x" * four_mib]]) == {"error": "RESOURCE_EXHAUSTED"}
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


def test_caps_on_descriptors_and_entries(launch):
    caller = launch(RULES, "--max-descriptors", "3", "--max-entries", "2").caller()
    key, two = [["k", "a"]], [["k", "a"], ["x", "y"]]
    same("OK: OK 4 of 5/HOUR, OK 3 of 5/HOUR, bare", caller.call("d", key, key, two))
    assert caller.call("d", key, key, key, key) == {"error": "RESOURCE_EXHAUSTED"}
    assert caller.call("d", key, [*two, ["z", ""]]) == {"error": "RESOURCE_EXHAUSTED"}
    same("OK: OK 2 of 5/HOUR", caller.call("d", key))


def test_few_slots_serve_many_calls(launch):
    caller = launch(RULES, "--slots", "2", "--workers", "1").caller()
    futures = [caller.future("d", [["k", f"v{i}"]]) for i in range(500)]
    assert all(f.result() for f in futures)


def test_connection_cap_lets_waiters_in(launch):
    server = launch(RULES, "--max-connections", "2")
    first, second = server.caller(), server.caller()
    same("OK: OK 4 of 5/HOUR", first.call("d", [["k", "a"]]))
    same("OK: OK 3 of 5/HOUR", second.call("d", [["k", "a"]]))
    third = server.caller().future("d", [["k", "a"]])
    same("OK: OK 5 of 5/HOUR", first.call("d", {"entries": [["k", "b"]], "hits": 0}))
    second.close()
    assert third.result()


def test_recovers_when_descriptors_run_out(launch):
    server = launch(RULES, descriptors=64)
    caller = server.caller()
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))
    crowd = [socket.create_connection(("127.0.0.1", server.port), timeout=weirserver.PATIENCE_SECONDS) for _ in range(100)]
    same("OK: OK 3 of 5/HOUR", caller.call("d", [["k", "a"]]))
    for s in crowd:
        s.close()
    same("OK: OK 2 of 5/HOUR", server.caller().call("d", [["k", "a"]]))


def test_bound_on_counters(launch):
    caller = launch(RULES, "--max-counters", "100").caller()
    replies = [caller.call("d", [["k", f"v{i}"]]) for i in range(300)]
    assert replies[0]["overall"] == "OK"
    assert {"error": "UNAVAILABLE"} in replies
    same("OK: OK 3 of 5/HOUR", caller.call("d", [["k", "v0"]]))


@pytest.mark.parametrize("mode, overall", [("allow", "OK"), ("deny", "OVER_LIMIT")])
def test_failure_mode_for_new_counters(launch, mode, overall):
    caller = launch(RULES, "--max-counters", "100", "--failure-mode", mode).caller()
    replies = [caller.call("d", [["k", f"v{i}"]]) for i in range(300)]
    unknown = [r for r in replies if "limit" not in r["statuses"][0]]
    assert unknown
    assert {r["overall"] for r in unknown} == {overall}


def test_unknown_method(launch):
    caller = launch(RULES).caller()
    for method in ("/envoy.service.ratelimit.v3.RateLimitService/Nope", "/no.such.Service/Call"):
        assert caller.error(b"", method)[0] == "UNIMPLEMENTED"


def test_passed_deadline_costs_nothing(launch):
    """C core counts in whole milliseconds, so the message follows when the server has given up on it."""
    server = launch(RULES)
    with rawh2.Connection(server.port) as raw:
        raw.send(rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, rawh2.headers(METHOD, grpc_timeout="1n")))
        assert raw.wait_end(1) is not None
        raw.send(rawh2.frame(rawh2.DATA, rawh2.END_STREAM, 1, rawh2.message(GOOD)))
        raw.ping()
    same("OK: OK 5 of 5/HOUR", server.caller().call("d", PEEK))


def test_a_message_that_never_came(launch):
    server = launch(RULES)
    with rawh2.Connection(server.port) as raw:
        raw.send(rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS | rawh2.END_STREAM, 1, rawh2.headers(METHOD)))
        assert raw.wait_end(1) == rawh2.HEADERS
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))


def test_half_sent_and_reset_streams(launch):
    # So few slots that one left behind would be missed.
    server = launch(RULES, "--slots", "8", "--workers", "1")
    with rawh2.Connection(server.port) as raw:
        for stream in range(1, 401, 2):
            raw.send(rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, stream, rawh2.headers(METHOD)),
                     rawh2.frame(rawh2.DATA, 0, stream, rawh2.message(GOOD)[:7]),
                     rawh2.frame(rawh2.RST_STREAM, 0, stream, rawh2.CANCEL.to_bytes(4, "big")))
        raw.ping()
    same("OK: OK 5 of 5/HOUR", server.caller().call("d", PEEK))


def test_connections_that_just_close(launch):
    noise = os.urandom(64)
    print("noise is", noise.hex())      # shown when the test fails
    server = launch(RULES)
    for data in (b"", b"GET / HTTP/1.1\r\n\r\n", rawh2.PREFACE[:10], noise):
        with socket.create_connection(("127.0.0.1", server.port), timeout=weirserver.PATIENCE_SECONDS) as s:
            s.sendall(data)
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [["k", "a"]]))


def test_full_slots_do_not_stop_the_end(launch):
    """Streams that are open and say nothing do not keep the server from ending in its time."""
    server = launch(RULES, "--drain-timeout", "500ms")
    with rawh2.Connection(server.port) as raw:
        for stream in range(1, 101, 2):
            raw.send(rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, stream, rawh2.headers(METHOD)))
        raw.ping()
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 30


def test_values_are_not_logged(launch):
    server = launch(RULES, "--log-level", "debug")
    server.caller().call("d", [["k", "very-private-value"]], [["other-private", "x"]])
    server.caller().error(b"\x0a\x14very-private-\xff\xfe-value")
    server.stop()
    assert "private" not in server.log()
