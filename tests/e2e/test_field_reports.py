# SPDX-License-Identifier: Apache-2.0
"""Public reports of people who run such services, each a case with the answer they had a right to.

Where each case is tested, and which wait for a part of Weir that is not there yet:

case                         tested in
---------------------------  ------------------------------------------------------------------
match-branch-merge           tests/cases/scenarios/base-matching.yaml, base-check.yaml
match-and-chain              tests/cases/scenarios/base-matching.yaml
match-repeated-key           tests/cases/scenarios/base-matching.yaml
config-yaml-scalars          tests/cases/scenarios/base-config.yaml, base-check.yaml
config-uint32-budget         tests/cases/scenarios/base-config.yaml, base-check.yaml, ext-counting.yaml;
                             as a message: tests/e2e/test_xds_reports.py
config-bad-file-isolated     tests/cases/scenarios/base-config.yaml; tests/e2e/test_reload.py; its
                             counters and page: wait for the HTTP port
config-denied-key-hint       tests/cases/scenarios/base-config.yaml, base-check.yaml
config-first-hit-window      tests/cases/scenarios/ext-time.yaml
reload-rename-replace        tests/cases/scenarios/base-reload.yaml
reload-event-storm           tests/cases/scenarios/base-reload.yaml; tests/e2e/test_reload.py
reload-generation-visible    waits for the HTTP port
count-two-limits-order       tests/cases/scenarios/ext-counting.yaml
count-cost-over-limit        tests/cases/scenarios/base-counting.yaml, ext-counting.yaml
count-burst-exact            tests/cases/scenarios/base-counting.yaml, ext-counting.yaml;
                             tests/e2e/test_redis_reports.py
count-parent-not-spent       tests/cases/scenarios/base-counting.yaml, ext-counting.yaml
count-shadow-first           tests/cases/scenarios/base-counting.yaml, ext-counting.yaml
count-refund-at-limit        tests/cases/scenarios/base-counting.yaml;
                             tests/e2e/test_redis_reports.py, two processes
time-idle-overflow           tests/unit/limit/token_bucket_test.c: a_long_idle_time_fills_the_bucket_and_no_more;
                             tests/unit/limit/sliding_window_test.c: a_long_idle_time_forgets_all_at_any_rate;
                             tests/cases/scenarios/ext-time.yaml
time-window-story            tests/cases/scenarios/base-time.yaml, ext-time.yaml;
                             tests/e2e/test_redis_reports.py, a relay to two stores
time-wait-is-enough          tests/cases/scenarios/base-time.yaml, ext-time.yaml
time-boundary-as-promised    tests/cases/scenarios/base-time.yaml, ext-time.yaml
redis-script-flush           tests/e2e/test_redis_cluster.py, each node in turn;
                             tests/e2e/test_redis_reports.py, one server
redis-dns-moves              tests/e2e/test_redis_reports.py
redis-lost-reply             tests/e2e/test_redis_reports.py
redis-cross-slot             tests/e2e/test_redis_cluster.py, keys in several slots, and in one
redis-acl-minimum            tests/e2e/test_redis_reports.py; a cluster:
                             tests/e2e/test_redis_cluster.py
fail-sentinel-mixed-tls      tests/e2e/test_redis_sentinel.py
fail-store-returns           tests/e2e/test_redis_reports.py
metrics-odd-labels           waits for the HTTP port
metrics-zero-series          waits for the HTTP port
metrics-across-reload        waits for the HTTP port
tls-client-ca-rotates        waits for TLS
grpc-idle-pings              tests/e2e/test_connections.py, the flood;
                             tests/unit/rpc/grpc/core_args_test.c: tolerate_pings_without_calls
grpc-wrong-protocol          here; tests/cases/scenarios/base-matching.yaml;
                             tests/e2e/test_connections.py, HTTP/1.1, TLS and silence
k8s-cpu-quota                here; tests/unit/server/cores_test.c: an_affinity_mask_takes_them_away
k8s-bare-ipv6                here, for gRPC; other ports wait
k8s-probe-with-mtls          waits for TLS
xds-version-repeats          tests/e2e/test_xds_reports.py
xds-large-snapshot           tests/e2e/test_xds_reports.py
client-denier-headers        tests/cases/scenarios/base-time.yaml; tests/e2e/test_envoy.py
mem-one-shot-keys            here; the gauge waits for the HTTP port
sec-separator-collision      tests/cases/scenarios/base-matching.yaml
"""
import glob
import os
import re
import socket

import pytest
import rawh2
import weirserver
from weirserver import METHOD, eventually, same, wait_until

RULES = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 5}}]\n"
GOOD = weirserver.oraclelib.build_request({"domain": "d", "desc": [[["k", "a"]]]}).SerializeToString()
RELEASE = os.path.join(weirserver.BUILD, "bin", "weir")
USAGE = 64


def rows():
    """{case: text of its row}"""
    table = {}
    for line in __doc__.splitlines():
        if case := re.match(r"([a-z0-9]+(?:-[a-z0-9]+)+) {2,}(\S.*)", line):
            name = case.group(1)
            table[name] = case.group(2)
        elif line.startswith(" " * 29):
            table[name] += " " + line.strip()
    return table


def test_the_table_is_true():
    """Scenarios that a row names hold its case, and all that hold it are named; unit tests that it names exist; the
    rows that say `here` have a test here."""
    folder = os.path.join(weirserver.ROOT, "tests", "cases", "scenarios")
    found = {}
    for path in glob.glob(os.path.join(folder, "*.yaml")):
        with open(path, encoding="utf-8") as f:
            found[os.path.basename(path)] = set(re.findall(r"^- id: (.+?)(?:-\d+)?$", f.read(), re.M))
    assert len(found) >= 8 and all(found.values())
    table = rows()
    assert len(table) == 42
    for case, text in table.items():
        for name in re.findall(r"[\w-]+\.yaml", text):
            assert case in found[name], f"{name} has no {case}"
        for path in re.findall(r"tests/e2e/\S+\.py", text):
            assert os.path.exists(os.path.join(weirserver.ROOT, path)), path
        for path, test in re.findall(r"(tests/unit/[\w/]+\.c)(?:: (\w+))?", text):
            with open(os.path.join(weirserver.ROOT, path), encoding="utf-8") as f:
                assert test and re.search(rf"^Test\(\w+, {test}\b", f.read(), re.M), f"{case}: {path}: {test}"
        if text.startswith("here"):
            prefix = "test_" + case.replace("-", "_")
            assert any(name.startswith(prefix) for name in globals()), case
    for name, cases in found.items():
        assert not {case for case in cases if name not in table.get(case, "")}, name


# grpc-wrong-protocol

V2 = "/envoy.service.ratelimit.v2.RateLimitService/ShouldRateLimit"


@pytest.mark.parametrize("path", [V2, METHOD + "s", "/nothing", "/"])
def test_grpc_wrong_protocol_paths(launch, path):
    server = launch(RULES)
    caller = server.caller()
    code, message, _ = caller.error(GOOD, path)
    assert code == "UNIMPLEMENTED"
    assert path in message
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "a"]]))


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/grpc-web"])
def test_grpc_wrong_protocol_content_types(launch, kind):
    """Answered at once, whether as a call or as none."""
    server = launch(RULES)
    with rawh2.Connection(server.port) as raw:
        raw.send(rawh2.frame(rawh2.HEADERS, rawh2.END_HEADERS, 1, rawh2.headers(METHOD, content_type=kind)),
                 rawh2.frame(rawh2.DATA, rawh2.END_STREAM, 1, rawh2.message(GOOD)))
        raw.socket.settimeout(5)
        assert raw.wait_end(1) in (rawh2.HEADERS, rawh2.RST_STREAM)
    assert server.caller().call("d", [["k", "b"]])["overall"] == "OK"


# k8s-cpu-quota

def threads(server):
    names = []
    for path in glob.glob(f"/proc/{server.process.pid}/task/*/comm"):
        with open(path, encoding="utf-8") as f:
            names.append(f.read().strip())
    return names


@pytest.mark.parametrize("words, n_workers", [([], None), (["--workers", "3"], 3)])
def test_k8s_cpu_quota_by_affinity(launch, words, n_workers):
    """As many workers as cores in the mask, unless told otherwise, and few threads besides."""
    mask = os.sched_getaffinity(0)
    for n in sorted({1, len(mask)}):
        os.sched_setaffinity(0, sorted(mask)[:n])
        try:
            server = launch(RULES, *words)
        finally:
            os.sched_setaffinity(0, mask)
        # A thread gives itself its name once it runs.
        wait_until(lambda: sum(name.startswith("worker-") for name in threads(server)) == (n_workers or n),
                   f"{n_workers or n} workers")
        names = threads(server)
        assert len(names) - (n_workers or n) <= 12, names


# k8s-bare-ipv6

BOTH = {"127.0.0.1", "[::1]"}


@pytest.fixture
def rules(tmp_path):
    weirserver.write_rules(tmp_path / "rules", RULES)
    return str(tmp_path / "rules")


def is_open(host, port):
    try:
        socket.create_connection((host.strip("[]"), port), timeout=weirserver.PATIENCE_SECONDS).close()
        return True
    except ConnectionRefusedError:
        return False


@pytest.mark.parametrize("host, served", [
    ("::", BOTH), ("[::]", BOTH), ("", BOTH), ("0.0.0.0", {"127.0.0.1"}), ("127.0.0.1", {"127.0.0.1"}),
    ("::1", {"[::1]"}), ("[::1]", {"[::1]"}), ("localhost", {"127.0.0.1"}),
])
def test_k8s_bare_ipv6_hosts(launch, rules, host, served):
    server = launch({}, "--rules", rules, by_flags=False, env={"GRPC_HOST": host, "GRPC_PORT": 0})
    for family in BOTH:
        assert is_open(family, server.port) == (family in served), family
    for family in served:
        same("OK: OK 4 of 5/HOUR", server.caller(f"{family}:{server.port}").call("d", [["k", family]]))


@pytest.mark.parametrize("host", ["not-a-host", "[::", "1.2.3.4.5", "::1%nowhere"])
def test_k8s_bare_ipv6_no_host(rules, host):
    result = weirserver.run(weirserver.binary("weir"), "--rules", rules, env={"GRPC_HOST": host, "GRPC_PORT": "0"})
    assert result.returncode == USAGE, result.stderr
    assert "GRPC_HOST" in result.stderr


# mem-one-shot-keys

ROUND_KEYS = 500_000
CALL_KEYS = 500
IN_FLIGHT = 16


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read()).group(1)) * 1024


def request_of(numbers, hits):
    """Domain d, a descriptor (ip=NUMBER) for each."""
    descriptors = b"".join(b"\x12\x12\x0a\x10\x0a\x02ip\x12\x0a%010d" % n for n in numbers)
    return b"\x0a\x01d" + descriptors + bytes([0x18, hits])


def send_new_keys(caller, first, hits):
    """-> how many replies said OVER_LIMIT"""
    under_way, n_over = [], 0
    for start in range(first, first + ROUND_KEYS, CALL_KEYS):
        under_way.append(caller.send.future(request_of(range(start, start + CALL_KEYS), hits), timeout=weirserver.PATIENCE_SECONDS))
        if len(under_way) == IN_FLIGHT:
            n_over += under_way.pop(0).result().startswith(b"\x08\x02")
    return n_over + sum(reply.result().startswith(b"\x08\x02") for reply in under_way)


def test_mem_one_shot_keys_do_not_stay(launch):
    """Keys that are seen once, the last round of them refused at once: a new round takes the room of those before."""
    server = launch("domain: d\ndescriptors: [{key: ip, rate_limit: {unit: second, requests_per_unit: 5}}]\n",
                    program=RELEASE)
    caller = server.caller()
    resident = []
    for number, hits in enumerate((1, 1, 9)):
        n_over = send_new_keys(caller, number * ROUND_KEYS, hits)
        assert n_over == (ROUND_KEYS // CALL_KEYS if hits > 5 else 0)
        resident.append(resident_bytes(server))
        last = ["ip", f"{(number + 1) * ROUND_KEYS - 1:010d}"]
        eventually("OK: OK 5 of 5/SECOND", lambda key=last: caller.peek("d", key))
    assert resident[2] <= 1.2 * max(resident[:2]), resident
