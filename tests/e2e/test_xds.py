# SPDX-License-Identifier: Apache-2.0
"""Rules from a control plane: what is asked, what is taken, what is answered, and what happens while nobody is there."""
import signal
import socket
import threading
import time

import certificates
import grpc
import pytest
import weirserver
from controlplane import ControlPlane, config, rule
from google.rpc import code_pb2
from grpc_health.v1 import health_pb2
from redisbed import let_last
from weirserver import eventually, same, wait_until

def ask(server):
    caller = server.caller()
    return lambda domain="d", key="k", hits=0: caller.call(domain, [[key, "v"]], hits=hits)


def serving(server):
    channel = server.caller().channel
    check = channel.unary_unary("/grpc.health.v1.Health/Check", response_deserializer=health_pb2.HealthCheckResponse.FromString)
    return check(b"", timeout=weirserver.PATIENCE_SECONDS).status == health_pb2.HealthCheckResponse.SERVING


def test_the_first_rules_make_it_ready(plane, follow):
    server = follow(plane)
    call = ask(server)
    plane.stream()
    assert call() == {"error": "UNAVAILABLE"}
    assert not serving(server)
    plane.set("v1", config("d", rule("k", 5)))
    eventually("OK: OK 4 of 5/HOUR", call)
    assert serving(server)
    request, answer = plane.stream().requests[0], plane.answer(1)
    assert (request.version_info, request.response_nonce, list(request.resource_names)) == ("", "", [])
    assert request.type_url == answer.type_url == "type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig"
    assert request.node.id == answer.node.id == "default"
    assert (answer.version_info, answer.response_nonce) == ("v1", "n1")
    assert not answer.HasField("error_detail")


def test_none_at_all_is_a_configuration(plane, follow):
    server = follow(plane)
    plane.set("v1")
    wait_until(lambda: serving(server), "health")
    same("OK: bare", ask(server)())
    assert plane.answer(1).version_info == "v1"


def test_updates_come_and_go(plane, follow):
    plane.set("v1", config("d", rule("k", 5)), config("e", rule("k", 6)))
    server = follow(plane)
    call = ask(server)
    eventually("OK: OK 4 of 5/HOUR", call)
    same("OK: OK 5 of 6/HOUR", call("e"))
    plane.set("v2", config("d", rule("k", 9)))
    eventually("OK: bare", lambda: call("e"))
    same("OK: OK 7 of 9/HOUR", call())      # the count stays
    assert plane.answer(2).version_info == "v2"
    assert [r.version_info for r in plane.stream().requests][:3] == ["", "v1", "v2"]


def test_every_field_means_what_it_means_in_a_file(plane, follow):
    plane.set("v1", config(
        "d",
        rule("shadow", 0, shadow_mode=True), rule("quota", 0, quota_mode=True),
        rule("roomy", 5, quota_mode=True),
        rule("nested", descriptors=[rule("k", 3, "DAY", value="v")]),
        rule("named", metadata={"tier": "free"}, rate_limit={
            "unit": "WEEK", "requests_per_unit": 4, "name": "weekly", "replaces": [{"name": "old"}]}),
        rule("free", rate_limit={"unlimited": True}), rule("old", rate_limit={
            "unit": "MONTH", "requests_per_unit": 8, "name": "old"})))
    server = follow(plane)
    call = ask(server)
    eventually("OK: OK 3 of 4/WEEK?", lambda: call(key="named"))
    same("OK: OK 0 of 0/HOUR", call(key="shadow"))
    same("OK: OVER 0 of 0/HOUR, OK 4 of 5/HOUR", server.caller().call("d", [["quota", "v"]], [["roomy", "v"]]))
    same("OK: OK 2 of 3/DAY", server.caller().call("d", [["nested", "x"], ["k", "v"]]))
    assert call(key="free")["statuses"][0]["code"] == "OK"
    assert not plane.answer(1).HasField("error_detail")
    assert " has no effect" not in server.log()


def test_bad_rules_are_refused_by_name_and_the_old_ones_stay(plane, follow):
    plane.set("v1", config("d", rule("k", 5)), config("e", rule("k", 5)))
    server = follow(plane)
    call = ask(server)
    eventually("OK: OK 4 of 5/HOUR", call)
    plane.set("v2", config("d", rule("k", 9), rule("m", 1, "UNKNOWN")), config("e", rule("k", 9)))
    answer = plane.answer(2)
    assert (answer.version_info, answer.response_nonce) == ("v1", "n2")
    assert answer.error_detail.code == code_pb2.INVALID_ARGUMENT
    assert "resource d: descriptors[1].rate_limit: error: " in answer.error_detail.message
    same("OK: OK 3 of 5/HOUR", call())
    same("OK: OK 8 of 9/HOUR", call("e"))        # the others are not held back
    assert "resource d: descriptors[1].rate_limit: `rate_limit` has no `unit` (in d.m)" in server.log()
    plane.set("v3", config("d", rule("k", 8)), config("e", rule("k", 9)))
    assert plane.answer(3).version_info == "v3"
    same("OK: OK 5 of 8/HOUR", call())


@pytest.mark.parametrize("merges", [False, True])
def test_one_domain_in_two_resources(plane, follow, merges):
    plane.set("v1", config("d", rule("k", 5), name="a"), config("d", rule("m", 6), name="b"))
    server = follow(plane, MERGE_DOMAIN_CONFIG=str(merges).lower())
    call = ask(server)
    eventually("OK: OK 4 of 5/HOUR", call)
    same("OK: OK 5 of 6/HOUR" if merges else "OK: bare", call(key="m"))
    assert plane.answer(1).HasField("error_detail") == (not merges)
    if not merges:
        assert "resource b: domain: error: domain `d` has its rules already, at resource a: domain" in \
            plane.answer(1).error_detail.message


def test_what_the_message_cannot_say_is_a_warning(plane, follow):
    unknown = b"\x1a\x0d\x0a\x01k\x1a\x08\x08\x03\x10\x05\x7a\x02\x68\x69"       # rate_limit.15: "hi"
    plane.set("v1", b"\x0a\x01d\x12\x01d" + unknown)
    server = follow(plane)
    eventually("OK: OK 4 of 5/HOUR", ask(server))
    assert not plane.answer(1).HasField("error_detail")
    assert "resource d: descriptors[0].rate_limit: field number 15 has no effect (in d.k)" in server.log()


def test_warnings_refuse_when_strict(plane, follow):
    plane.set("v1", b"\x0a\x01d\x12\x01d\x78\x01")
    server = follow(plane, "--strict")
    assert "resource d: error: field number 15 has no effect" in plane.answer(1).error_detail.message
    assert not serving(server)


def test_errors_are_told_behind_many_warnings(plane, follow):
    plane.set("v1", b"\x0a\x01d\x12\x01d" + 50 * b"\x78\x01")
    server = follow(plane)
    wait_until(lambda: server.loads() == 1, "the first rules")
    plane.set("v2", b"\x0a\x01d\x12\x01d" + 50 * b"\x78\x01" + b"\x1a\x05\x0a\x01k\x1a\x00")
    assert plane.answer(2).error_detail.message == \
        "resource d: descriptors[0].rate_limit: error: `rate_limit` has no `unit` (in d.k); one of second, minute, hour, " \
        "day, week, month, year"


def test_an_error_far_down_is_told_whole(plane, follow):
    nested = rule("k", 5)
    for _ in range(64):
        nested = rule("k", descriptors=[nested])
    plane.set("v1", config("d", nested))
    follow(plane)
    assert plane.answer(1).error_detail.message.endswith(
        "error: `descriptors` are nested deeper than 64 levels (in d" + 64 * ".k" + "); raise --max-rules-depth")


def test_what_cannot_be_read_takes_no_limits_away(plane, follow):
    plane.set("v1", config("d", rule("k", 5)), config("e", rule("k", 5)))
    server = follow(plane)
    call = ask(server)
    eventually("OK: OK 4 of 5/HOUR", lambda: call("e"))
    plane.set("v2", config("d", rule("k", 9)), b"\xff")
    assert plane.answer(2).HasField("error_detail")
    same("OK: OK 3 of 5/HOUR", call("e"))
    same("OK: OK 4 of 5/HOUR", call("d"))


def test_what_was_not_asked_for_is_refused(plane, follow):
    plane.set("v1", config("d", rule("k", 5)), type_url="type.googleapis.com/other")
    follow(plane)
    assert "is of type `type.googleapis.com/other`" in plane.answer(1).error_detail.message


def test_what_is_no_response_ends_the_stream(plane, follow):
    plane.set("v1", config("d", rule("k", 5)))
    server = follow(plane)
    wait_until(lambda: server.loads() == 1, "the first rules")
    plane.stream().outbox.put(b"\x0a\x7f")
    wait_until(lambda: "its answer could not be taken: malformed input" in server.log(), "a complaint")
    wait_until(lambda: len(plane.streams) == 2 and len(plane.streams[1].requests) == 2, "another stream")
    assert not plane.streams[1].requests[1].HasField("error_detail")
    same("OK: OK 4 of 5/HOUR", ask(server)())
    assert server.loads() == 1


def test_what_is_no_response_is_no_success_however_long_it_took(plane, follow):
    follow(plane, XDS_CLIENT_BACKOFF_MAX_INTERVAL="10s")
    for i in range(5):
        stream = plane.stream(i)
        let_last(0.2)
        begin = time.monotonic()
        stream.outbox.put(b"\x0a\x7f")
    plane.stream(5)
    assert time.monotonic() - begin > 0.3           # the fifth pause: 50 ms four times doubled, less up to a half


def test_it_says_who_it_is(plane, follow):
    plane.set("v1")
    follow(plane, CONFIG_GRPC_XDS_NODE_ID="envoy-ratelimit", CONFIG_GRPC_XDS_NODE_METADATA="zone=a,tier=b=c",
           CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS="X-Team:edge,authorization:Bearer a:b")
    node = plane.answer(1).node
    assert node.id == "envoy-ratelimit"
    assert dict(node.metadata) == {"zone": "a", "tier": "b=c"}
    assert node.user_agent_name == "weir"
    headers = plane.stream().headers
    assert (headers["x-team"], headers["authorization"]) == ("edge", "Bearer a:b")


def test_a_refusal_that_is_answered_at_once_is_no_hot_loop(follow):
    with ControlPlane(resends=True) as plane:
        server = follow(plane)
        stream = plane.stream()
        wait_until(lambda: stream.requests, "a first question")
        begin = time.monotonic()
        plane.set("v1", config("d", rule("k", 5, "UNKNOWN")))
        wait_until(lambda: len(stream.requests) >= 10, "ten answers")
        # Two at once; then pauses of 50, 100, 200, 200 … ms, less up to a half: 0.57 s at least.
        assert time.monotonic() - begin > 0.5
        assert all(r.HasField("error_detail") for r in stream.requests[1:])
        assert server.log().count("`rate_limit` has no `unit`") == 1
        plane.set("v2", config("d", rule("k", 5)))
        eventually("OK: OK 4 of 5/HOUR", ask(server))


def test_the_same_now_and_then_is_answered_at_once(plane, follow):
    plane.set("v0", config("d", rule("k", 5)))
    follow(plane, XDS_CLIENT_BACKOFF_INITIAL_INTERVAL="2m", XDS_CLIENT_BACKOFF_MAX_INTERVAL="2m")
    plane.answer(1)
    for i in range(1, 4):
        let_last(1.1)
        begin = time.monotonic()
        plane.set(f"v{i}", config("d", rule("k", 5)))
        assert plane.answer(i + 1).version_info == f"v{i}"
        assert time.monotonic() - begin < 40        # repeated at once it were a minute at least from the second on


def test_the_old_rules_hold_while_nobody_is_there(plane, follow):
    plane.set("v1", config("d", rule("k", 5)))
    server = follow(plane)
    call = ask(server)
    eventually("OK: OK 4 of 5/HOUR", call)
    plane.stop()
    wait_until(lambda: server.log().count("the stream has ended") >= 3, "attempts")
    same("OK: OK 3 of 5/HOUR", call())
    assert serving(server)
    plane.start()
    plane.set("v1", config("d", rule("k", 9)))
    wait_until(lambda: server.loads() == 2, "the new rules")
    same("OK: OK 6 of 9/HOUR", call())


def test_a_name_is_looked_up(plane, follow, tmp_path):
    leaks = tmp_path / "leaks"
    leaks.write_text("leak:libcares\n")         # it loses the name whenever that is localhost
    plane.set("v1", config("d", rule("k", 5)))
    server = follow(plane, CONFIG_GRPC_XDS_SERVER_URL=f"localhost:{plane.port}",
                    LSAN_OPTIONS=f"exitcode={weirserver.SANITIZER_EXIT}:suppressions={leaks}:print_suppressions=0")
    eventually("OK: OK 4 of 5/HOUR", ask(server))


def test_attempts_become_rarer_and_nobody_is_run_over(follow):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        times, done = [], threading.Event()

        def refuse():
            while not done.is_set():
                connection, _ = listener.accept()
                times.append(time.monotonic())
                connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        follow(None, port=listener.getsockname()[1], XDS_CLIENT_BACKOFF_INITIAL_INTERVAL="100ms",
               XDS_CLIENT_BACKOFF_MAX_INTERVAL="400ms")
        wait_until(lambda: len(times) >= 6, "six attempts")
        done.set()
        # Pauses of 100, 200, 400, 400, 400 ms, less up to a half: 0.75 s and 0.6 s at least, unless one is seen late.
        assert times[5] - times[0] > 0.5 and times[5] - times[2] > 0.4, times


def test_a_server_that_goes_away_at_once_is_no_hot_loop(follow):
    settings_and_goaway = bytes.fromhex("000000040000000000" "0000080700000000000000000000000000")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        n_connections = 0
        server = follow(None, port=listener.getsockname()[1])
        while server.log().count("the stream has ended with status 14") < 5:
            connection, _ = listener.accept()
            connection.sendall(settings_and_goaway)
            connection.close()
            n_connections += 1
            assert n_connections < 20


@pytest.mark.parametrize("what", ["ca", "cert", "key"])
def test_files_that_are_no_certificates_are_told_of(plane, follow, tmp_path, what):
    pair, junk = certificates.Authority(tmp_path).issue("me"), tmp_path / "junk"
    junk.write_text("junk")
    files = {"ca": certificates.Authority(tmp_path).cert, "cert": pair.cert, "key": pair.key, what: str(junk)}
    server = follow(plane, "--xds-tls", *[word for name, path in files.items() for word in (f"--xds-tls-{name}", path)])
    wait_until(lambda: "TLS cannot begin with the files of --xds-tls-ca, --xds-tls-cert and --xds-tls-key" in server.log(),
               "a line")


def test_certificates_on_both_sides(follow, tmp_path):
    ca = certificates.Authority(tmp_path)
    pair, other = ca.issue("plane", "DNS:plane.example"), certificates.Authority(tmp_path, "other")
    read = lambda path: open(path, "rb").read()      # noqa: E731
    credentials = grpc.ssl_server_credentials([(read(pair.key), read(pair.cert))], read(ca.cert), True)
    mine = other.issue("me")
    with ControlPlane(credentials) as plane:
        plane.set("v1", config("d", rule("k", 5)))
        server = follow(plane, CONFIG_GRPC_XDS_SERVER_USE_TLS="true", CONFIG_GRPC_XDS_SERVER_TLS_CACERT=ca.cert,
                        CONFIG_GRPC_XDS_CLIENT_TLS_CERT=mine.cert, CONFIG_GRPC_XDS_CLIENT_TLS_KEY=mine.key,
                        CONFIG_GRPC_XDS_SERVER_TLS_SAN="plane.example")
        wait_until(lambda: server.log().count("the stream has ended") >= 2, "refusals")
        assert not plane.streams
        good = ca.issue("me")           # over the files of the one that nobody vouches for
        assert (good.cert, good.key) == (mine.cert, mine.key)
        eventually("OK: OK 4 of 5/HOUR", ask(server))


def test_a_control_plane_of_another_name_is_not_believed(follow, tmp_path):
    ca = certificates.Authority(tmp_path)
    pair = ca.issue("plane", "DNS:plane.example")
    read = lambda path: open(path, "rb").read()      # noqa: E731
    with ControlPlane(grpc.ssl_server_credentials([(read(pair.key), read(pair.cert))])) as plane:
        plane.set("v1", config("d", rule("k", 5)))
        server = follow(plane, CONFIG_GRPC_XDS_SERVER_USE_TLS="true", CONFIG_GRPC_XDS_SERVER_TLS_CACERT=ca.cert)
        wait_until(lambda: server.log().count("the stream has ended") >= 2, "refusals")
        assert not plane.streams
        assert ask(server)() == {"error": "UNAVAILABLE"}


def test_certificates_that_are_not_there_yet_are_waited_for(follow, tmp_path):
    ca = certificates.Authority(tmp_path)
    pair = ca.issue("plane", "IP:127.0.0.1")
    missing = tmp_path / "later.pem"
    read = lambda path: open(path, "rb").read()      # noqa: E731
    with ControlPlane(grpc.ssl_server_credentials([(read(pair.key), read(pair.cert))])) as plane:
        plane.set("v1", config("d", rule("k", 5)))
        server = follow(plane, CONFIG_GRPC_XDS_SERVER_USE_TLS="true", CONFIG_GRPC_XDS_SERVER_TLS_CACERT=str(missing))
        wait_until(lambda: str(missing) in server.log(), "a complaint")
        missing.write_bytes(read(ca.cert))
        eventually("OK: OK 4 of 5/HOUR", ask(server))


def test_an_end_comes_at_once_in_every_state(plane, follow):
    plane.set("v1", config("d", rule("k", 5)))
    servers = [follow(plane), follow(None, port=1, XDS_CLIENT_BACKOFF_INITIAL_INTERVAL="1h",
                                     XDS_CLIENT_BACKOFF_MAX_INTERVAL="1h")]
    eventually("OK: OK 4 of 5/HOUR", ask(servers[0]))
    wait_until(lambda: "the stream has ended" in servers[1].log(), "a failure")
    begin = time.monotonic()
    for server in servers:
        server.stop()
    assert time.monotonic() - begin < 60


def test_sighup_has_nothing_to_look_at(plane, follow):
    server = follow(plane)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "SIGHUP: rules come from a control plane" in server.log(), "a line")


@pytest.mark.parametrize("settings, said", [
    (["--rules", "x"], "--rules (WEIR_RULES) and --rules-source xds (CONFIG_TYPE) cannot both be"),
    (["--xds-tls", "--xds-tls-cert", "x"], "need each other"),
    (["--xds-pause-min", "2m"], "is longer than --xds-pause-max"),
    (["--xds-headers", "nocolon"], "must be as in x-team:edge"),
    (["--xds-headers", "a b:c"], "must be as in x-team:edge"),
    (["--xds-headers", "x-bin:c"], "must be as in x-team:edge"),
    (["--xds-headers", "TE:c"], "must be as in x-team:edge"),
    (["--xds-headers", "Content-Type:c"], "must be as in x-team:edge"),
    (["--xds-headers", "grpc-status:1"], "must be as in x-team:edge"),
    *[(["--xds-server", server], "is no HOST:PORT") for server in (
        "", "host", ":1", "host:", "host:0", "host:65536", "host:99999999999999999999", "host:1x", "host:1/", "a b:1",
        "http://host:1", "dns:///host", "unix:/run/x")],
    (["--xds-node-metadata", "zone"], "must be as in zone=a"),
    (["--xds-max-message-bytes", "3000000000"], "allowed: a whole number from 0 to 2147483647"),
])
def test_settings_that_mean_nothing_are_refused(settings, said):
    result = weirserver.run(weirserver.binary("weir"), "--rules-source", "xds", "--grpc-listen", "127.0.0.1:0", *settings)
    assert result.returncode == 64
    assert said in result.stderr


def test_the_other_source_knows_none_of_it():
    result = weirserver.run(weirserver.binary("weir"), "--xds-server", "h:1", "--rules", "/nowhere")
    assert "rules come from files, and these have no effect: --xds-server (CONFIG_GRPC_XDS_SERVER_URL)" in result.stderr


def test_a_header_is_a_secret(follow, plane):
    server = follow(plane, CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS="authorization:hunter2")
    assert plane.stream().headers["authorization"] == "hunter2"
    listed = weirserver.run(weirserver.binary("weir"), "--list-options", "--xds-headers", "authorization:hunter2")
    assert "(given, not shown)" in listed.stdout and "hunter2" not in listed.stdout + server.log()


