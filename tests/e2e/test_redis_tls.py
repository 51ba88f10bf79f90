# SPDX-License-Identifier: Apache-2.0
"""Redis behind TLS: who is trusted, what is told when it fails, and certificates that change while it serves."""
import os
import shutil
import tempfile

import oraclelib
import pytest
import weirserver
from certificates import Authority
from ports import free_port
from redisserver import RedisServer, find_server
from weirserver import same, wait_until

RULES = """
domain: d
descriptors:
  - key: k
    rate_limit: {unit: hour, requests_per_unit: 5}
  - key: s
    rate_limit: {unit: second, requests_per_unit: 100}
"""
# A sanitized server on a busy machine needs longer than a tuned one; what is looked at here is not time.
PATIENT = ("--redis-timeout", "2s", "--redis-connect-timeout", "10s")
HERE = ("DNS:localhost", "IP:127.0.0.1")
# What the user of a limiter needs, and no more.
USER = ("--user", "weir", "on", ">swordfish", "~weir:*", "+@connection", "+@scripting", "+@read", "+@write", "+time")


class TlsRedis:
    """A redis-server with a port for TLS beside the plain one, by which the test looks into it."""

    def __init__(self, folder, pair, authority, *settings, wants_clients=False):
        program = find_server(folder)
        assert program, "no redis-server here; Debian has it in redis-tools"
        self.tls_port = free_port()
        self.plain = RedisServer(program, folder)
        self.settings = ("--tls-port", str(self.tls_port), "--tls-cert-file", pair.cert, "--tls-key-file", pair.key,
                         "--tls-ca-cert-file", authority.cert,
                         "--tls-auth-clients", "yes" if wants_clients else "no", *settings)

    def start(self):
        self.plain.start(*self.settings)
        return self

    @property
    def url(self):
        return f"127.0.0.1:{self.tls_port}"

    def show(self, pair):
        """From now on this certificate, to new connections."""
        self.plain.call("CONFIG", "SET", "tls-cert-file", pair.cert, "tls-key-file", pair.key)

    def cut(self):
        """Ends all connections but the test's."""
        self.plain.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def pair(authority):
    return authority.issue("redis", *HERE)


@pytest.fixture
def start_redis(authority, pair):
    """start_redis(*settings, wants_clients=False): one for the test, which ends with it."""
    folders, servers = [], []

    def start(*settings, shown=pair, **more):
        folders.append(tempfile.mkdtemp(prefix="weir-redis."))
        servers.append(TlsRedis(folders[-1], shown, authority, *settings, **more))
        return servers[-1].start()

    yield start
    for server in servers:
        server.plain.stop()
    for folder in folders:
        shutil.rmtree(folder)


@pytest.fixture
def serve(launch):
    def start(url, *flags, **more):
        return launch(RULES, "--store", "redis", "--redis-url", url, *PATIENT, *flags, **more)
    return start


def ready(server):
    """Waits until the server has reached its Redis."""
    wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached Redis")
    return server.caller()


def expect_told(server, part):
    """The server is up, has no store, and says why."""
    wait_until(lambda: part in server.log(), f"{part!r} in the log")
    assert server.caller().call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
    assert "health: SERVING" not in server.log()


@pytest.mark.parametrize("url", ["rediss://weir:swordfish@{url}", "rediss://weir:swordfish@localhost:{port}"])
def test_counts_as_a_user(start_redis, serve, authority, url):
    redis = start_redis(*USER)
    server = serve(url.format(url=redis.url, port=redis.tls_port), "--redis-tls-ca", authority.cert)
    caller = ready(server)
    for left in range(4, -1, -1):
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 5/HOUR", caller.call("d", [["k", "a"]]))
    assert "swordfish" not in server.log()


def test_the_incumbents_variables(start_redis, serve, authority):
    redis = start_redis(*USER, wants_clients=True)
    client = authority.issue("weir")
    caller = ready(serve(redis.url, env={
        "REDIS_TLS": "true", "REDIS_AUTH": "weir:swordfish", "REDIS_TLS_CACERT": authority.cert,
        "REDIS_TLS_CLIENT_CERT": client.cert, "REDIS_TLS_CLIENT_KEY": client.key}))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


def test_a_second_redis_of_its_own(start_redis, serve, authority):
    main, second = start_redis(), start_redis()
    caller = ready(serve(f"rediss://{main.url}", "--redis-per-second", "--redis-per-second-url", second.url,
                         "--redis-per-second-tls", "--redis-tls-ca", authority.cert))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OK: OK 99 of 100/SECOND", caller.call("d", [["s", "a"]]))
    # It lives for a second: asked again until it is seen alive.
    wait_until(lambda: caller.call("d", [["s", "a"]]) and b"weir:{d|s=a}|1s" in second.plain.call("KEYS", "*"),
               "the key of a second")


@pytest.mark.parametrize("auth", ["weir:open-sesame", "nobody:open-sesame"])
def test_wrong_password(start_redis, serve, authority, auth):
    redis = start_redis(*USER)
    server = serve(f"rediss://{redis.url}", "--redis-tls-ca", authority.cert, env={"REDIS_AUTH": auth})
    expect_told(server, "user or password is wrong")
    assert f"Redis at {redis.url}" in server.log()
    assert "sesame" not in server.log()
    assert server.process.poll() is None


def test_server_name_in_place_of_the_host(start_redis, serve, authority):
    redis = start_redis(shown=authority.issue("redis-of-all", "DNS:redis.example"))
    flags = ("--redis-tls-ca", authority.cert)
    expect_told(serve(f"rediss://{redis.url}", *flags), "the certificate of 127.0.0.1 is for redis.example;")
    for more in (["--redis-tls-server-name", "redis.example"], ["--redis-tls-skip-hostname-verification"]):
        same("OK: bare", ready(serve(f"rediss://{redis.url}", *flags, *more)).call("d", [["none", ""]]))


def test_over_a_unix_socket_nothing_is_secured(start_redis, serve, authority):
    redis = start_redis()
    server = serve(f"unix:{redis.plain.path}", "--redis-tls-ca", authority.cert)
    assert "certificates for Redis are given, yet TLS is not asked for" in server.log()
    same("OK: OK 4 of 5/HOUR", ready(server).call("d", [["k", "a"]]))


def test_wrong_authority(start_redis, serve, tmp_path):
    redis = start_redis()
    os.mkdir(tmp_path / "other")
    other = Authority(tmp_path / "other", "other")
    for flags, where in (("--redis-tls-ca", other.cert), other.cert), ((), "the system's store"):
        server = serve(f"rediss://{redis.url}", *flags)
        expect_told(server, f"the certificate of 127.0.0.1 is signed by ca, which nothing in {where} vouches for")


def test_client_certificate(start_redis, serve, authority, tmp_path):
    redis = start_redis(wants_clients=True)
    os.mkdir(tmp_path / "other")
    good, bad = authority.issue("weir"), Authority(tmp_path / "other", "other").issue("stranger")
    flags = (f"rediss://{redis.url}", "--redis-tls-ca", authority.cert)
    expect_told(serve(*flags), "the server wants a client certificate; give --redis-tls-cert and --redis-tls-key")
    expect_told(serve(*flags, "--redis-tls-cert", bad.cert, "--redis-tls-key", bad.key),
                "the server does not accept our client certificate")
    caller = ready(serve(*flags, "--redis-tls-cert", good.cert, "--redis-tls-key", good.key))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


def test_authority_that_changes(start_redis, serve, authority, tmp_path):
    """Redis gets a certificate of another CA; the file with the CAs follows, without a restart."""
    redis = start_redis()
    os.mkdir(tmp_path / "new")
    new = Authority(tmp_path / "new", "new-ca")
    ca = str(tmp_path / "trusted.pem")
    shutil.copy(authority.cert, ca)
    server = serve(f"rediss://{redis.url}", "--redis-tls-ca", ca, "--redis-pause-max", "100ms")
    caller = ready(server)
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))

    weirserver.replace(tmp_path, "trusted.pem", "no certificate")
    for left in (3, 2):     # what was read before stays in use, told once
        redis.cut()
        wait_until(lambda: "error" not in caller.call("d", [["k", "probe"]]), "answers after a cut")
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))
    assert server.log().count("what was read before stays in use") == 1

    redis.show(new.issue("redis", *HERE))
    redis.cut()
    wait_until(lambda: "is signed by new-ca" in server.log(), "the new CA in the log")
    shutil.copy(new.cert, tmp_path / "beside.pem")
    os.rename(tmp_path / "beside.pem", ca)
    wait_until(lambda: "error" not in caller.call("d", [["k", "probe2"]]), "answers after the CA came")
    same("OK: OK 1 of 5/HOUR", caller.call("d", [["k", "a"]]))
    assert "changed certificate files are in use" in server.log()


def test_restarted_redis(start_redis, serve, authority):
    redis = start_redis()
    caller = ready(serve(f"rediss://{redis.url}", "--redis-tls-ca", authority.cert, "--redis-pause-max", "100ms"))
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))
    redis.plain.kill()
    assert caller.call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
    redis.start()
    wait_until(lambda: "error" not in caller.call("d", [["k", "probe"]]), "answers after Redis came back")
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


def test_many_calls_at_once(start_redis, serve, authority):
    """Through two servers with two I/O threads each: exactly so much is let through."""
    redis = start_redis()
    flags = ("--redis-tls-ca", authority.cert, "--redis-io-threads", "2")
    callers = [ready(serve(f"rediss://{redis.url}", *flags)) for _ in range(2)]
    futures = [callers[i % 2].future("d", [["k", f"v{i % 20}"]]) for i in range(400)]
    codes = [oraclelib.rls_pb2.RateLimitResponse.FromString(f.result()).overall_code for f in futures]
    assert codes.count(oraclelib.rls_pb2.RateLimitResponse.OK) == 20 * 5


def test_tls_to_a_plain_port_and_the_other_way_round(start_redis, serve, authority):
    redis = start_redis()
    flags = ("--redis-tls-ca", authority.cert, "--redis-connect-timeout", "1s")
    expect_told(serve(f"rediss://{redis.plain.url}", *flags), "does it speak TLS there?")
    expect_told(serve(f"redis://{redis.url}", *flags), f"Redis at {redis.url}")


@pytest.mark.parametrize("flags, part", [
    (["--redis-tls-ca", "{folder}/absent"], "absent: No such file or directory"),
    (["--redis-tls-ca", "{ca_key}"], "is not a file of certificates in PEM form"),
    (["--redis-tls-cert", "{ca}"], "--redis-tls-cert (REDIS_TLS_CLIENT_CERT) needs --redis-tls-key"),
    (["--redis-tls-cert", "{ca}", "--redis-tls-key", "{folder}"], "Is a directory"),
    (["--redis-tls-cert", "{ca}", "--redis-tls-key", "{other_key}"], "is not the key of the certificate in"),
])
def test_wrong_files_end_the_start(authority, pair, tmp_path, flags, part):
    words = [f.format(folder=tmp_path, ca=authority.cert, ca_key=authority.key, other_key=pair.key) for f in flags]
    result = weirserver.run(weirserver.binary("weir"), "--store", "redis", "--redis-url", "rediss://127.0.0.1:1",
                            "--grpc-listen", "127.0.0.1:0", "--rules", str(tmp_path), *words)
    assert result.returncode == 64
    assert part in result.stderr
