# SPDX-License-Identifier: Apache-2.0
"""What people reported about rules from a control plane: the cases that test_field_reports.py sends here."""
import glob
import os
import re
import sys
import threading
import time

import pytest
import weirserver
from controlplane import config, rule
from redisbed import counted, let_last
from weirserver import eventually, same, wait_until

RELEASE = os.path.join(weirserver.BUILD, "bin", "weir")
MIB = 1 << 20
RULES_PER_RESOURCE = 10_000


# config-uint32-budget

def test_the_largest_number_a_message_has(plane, follow):
    plane.set("v1", config("d", rule("k", 2**32 - 1, "MONTH")))
    call = follow(plane).caller()
    wait_until(lambda: "error" not in call.peek("d", ["k", "v"]), "rules")
    same(f"OK: OK 1 of {2**32 - 1}/MONTH", call.call("d", [["k", "v"]], hits=2**32 - 2))


# xds-version-repeats

def test_a_version_that_repeats(plane, follow):
    plane.set("1", config("d", rule("k", 5)))
    server = follow(plane)
    caller = server.caller()
    wait_until(lambda: server.loads() == 1, "the first rules")
    same("OK: OK 4 of 5/HOUR", caller.call("d", [["k", "v"]]))
    assert plane.answer(1).version_info == "1"
    plane.stop()
    wait_until(lambda: server.log().count("the stream has ended") >= 3, "attempts in the gap")
    same("OK: OK 3 of 5/HOUR", caller.call("d", [["k", "v"]]))

    plane.start().set("1", config("d", rule("k", 2)))       # the version and the nonce of before
    wait_until(lambda: server.loads() == 2, "the new content")
    first, taken = plane.stream().requests[0], plane.answer(1)
    assert (first.version_info, first.response_nonce) == ("", "")
    assert (taken.version_info, taken.response_nonce) == ("1", "n1")
    same("OVER: OVER 0 of 2/HOUR", caller.call("d", [["k", "v"]]))

    plane.set("2", config("d", rule("k", 2)))
    answer = plane.answer(2)
    assert (answer.version_info, answer.HasField("error_detail")) == ("2", False)
    assert server.loads() == 2

    n_streams = len(plane.streams)
    let_last(3)                                              # silence is no error
    assert len(plane.streams) == n_streams
    assert server.log().count("the stream has ended") == server.log().split("it answers")[1].count("the stream has ended")


# xds-large-snapshot

def snapshot(n_bytes, requests):
    """Resources of small rules, some 100 bytes each, of so many bytes together."""
    made, n, left = [], 0, n_bytes
    while left > 0:
        rules = [rule("user", requests, value=f"customer-{n + i:08d}-of-the-european-union-and-of-all-its-neighbours-too")
                 for i in range(RULES_PER_RESOURCE)]
        whole = config(f"d{len(made)}", rule("k", requests), *rules).SerializeToString()
        if len(whole) > left:
            rules = rules[:max(0, left * RULES_PER_RESOURCE // len(whole) - 1)]
            whole = config(f"d{len(made)}", rule("k", requests), *rules).SerializeToString()
            left = 0
        made.append(whole)
        n, left = n + RULES_PER_RESOURCE, left - len(whole)
    return made


class Caller(threading.Thread):
    """Asks all the time; what each question took, and what failed."""

    def __init__(self, server):
        super().__init__()
        self.caller, self.took_ms, self.failed, self.over = server.caller(), [], [], threading.Event()

    def run(self):
        while not self.over.wait(0.001):
            begin = time.monotonic()
            reply = self.caller.peek("d0", ["k", "v"])
            self.took_ms.append((time.monotonic() - begin) * 1000)
            if "error" in reply:
                self.failed.append(reply)

    def begin_anew(self):
        self.took_ms = []

    def rest(self):
        """-> what 99 of 100 took up to now, and the longest; begins anew."""
        took, self.took_ms = sorted(self.took_ms), []
        return took[len(took) * 99 // 100], took[-1]


def cpu_seconds(server, thread):
    """What the thread of that name has computed."""
    for path in glob.glob(f"/proc/{server.process.pid}/task/*/stat"):
        with open(path, encoding="utf-8") as f:
            name, rest = re.fullmatch(r"\d+ \((.*)\) (.*)", f.read().strip()).groups()
        if name == thread:
            return sum(int(n) for n in rest.split()[11:13]) / os.sysconf("SC_CLK_TCK")
    raise AssertionError(f"no thread {thread}")


class Taken:
    """A snapshot on its way into force while a caller asks: how long that took, also of computing, and what the calls
    took before and meanwhile."""

    def __init__(self, plane, server, caller, version, resources):
        computed = cpu_seconds(server, "xds")
        caller.begin_anew()
        wait_until(lambda: len(caller.took_ms) > 500, "answers while nothing changes")
        begin, n_answers, self.quiet = time.monotonic(), len(plane.stream().requests), caller.rest()
        plane.set(version, *resources)
        self.answer = plane.answer(n_answers, seconds=4 * weirserver.PATIENCE_SECONDS)
        self.took, self.busy = time.monotonic() - begin, caller.rest()
        self.computed = cpu_seconds(server, "xds") - computed

    def is_without_a_pause(self):
        return self.busy[0] < max(20, 3 * self.quiet[0])

    def __str__(self):
        return (f"{self.took:.2f} s, of them {self.computed:.2f} computing; 99 of 100 calls took up to {self.busy[0]:.1f} ms, "
                f"the longest {self.busy[1]:.1f}; before {self.quiet[0]:.1f} and {self.quiet[1]:.1f}")


@pytest.mark.parametrize("mib, env", [
    (3.9, {}), (4.1, {}), (20, {}), (20, {"XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES": str(32 * MIB)})])
def test_a_large_snapshot_is_taken_without_a_pause(plane, follow, mib, env, capsys):
    """Other programs may make calls wait, too: so there are a few snapshots, unless the first shows it."""
    plane.set("v0", config("d0", rule("k", 4)))
    server = follow(plane, program=RELEASE, **env)
    wait_until(lambda: server.loads() == 1 and plane.answer(1), "the first rules")
    caller = Caller(server)
    caller.start()
    try:
        for requests in range(5, 20):
            taken = Taken(plane, server, caller, f"v{requests}", snapshot(int(mib * MIB), requests))
            with capsys.disabled():
                print(f"\n{mib} MiB: {taken}", file=sys.stderr)
            assert (taken.answer.version_info, taken.answer.HasField("error_detail")) == (f"v{requests}", False)
            assert taken.computed < 2               # which other programs make no longer
            if taken.is_without_a_pause():
                break
    finally:
        caller.over.set()
        caller.join()
    assert taken.is_without_a_pause()
    assert not caller.failed
    same(f"OK: OK {requests - 1} of {requests}/HOUR", caller.caller.call("d0", [["k", "v"]]))


def test_a_snapshot_beyond_the_bound(plane, follow):
    plane.set("v0", config("d0", rule("k", 4)))
    server = follow(plane, "--xds-max-message-bytes", str(8 * MIB), program="weir_observed")
    wait_until(lambda: server.loads() == 1, "the first rules")
    plane.set("v1", *snapshot(20 * MIB, 5))
    wait_until(lambda: "the stream has ended" in server.log(), "a refusal")
    same("OK: OK 3 of 4/HOUR", server.caller().call("d0", [["k", "v"]]))
    line = next(x for x in server.log().splitlines() if "the stream has ended" in x)
    sizes = [int(n) for n in re.findall(r"\d{7,}", line)]
    assert 8 * MIB in sizes and max(sizes) > 19 * MIB, line
    assert "raise --xds-max-message-bytes (XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES)" in line
    sums = counted(server)
    assert sums["config_load_error_total"] >= 1 and sums["xds_stream_errors_total"] >= 1


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read()).group(1)) * 1024


def test_what_is_not_taken_leaves_nothing_behind(plane, follow):
    server = follow(plane, "--xds-max-message-bytes", str(24 * MIB), "--workers", "1", program=RELEASE)
    plane.set("v0", config("d0", rule("k", 4)))
    wait_until(lambda: server.loads() == 1, "the first rules")
    before = resident_bytes(server)
    plane.set("v1", *[resource + b"\x1a\x00" for resource in snapshot(20 * MIB, 5)])       # a rule without a key
    wait_until(lambda: "rules stay as they are" in server.log(), "a refusal")
    wait_until(lambda: resident_bytes(server) < before + 40 * MIB, "memory given back")
    plane.set("v2", *snapshot(100 * MIB, 5))
    wait_until(lambda: "larger than max" in server.log(), "another")
    plane.stop()
    wait_until(lambda: resident_bytes(server) < before + 40 * MIB, "memory given back")


def test_updates_leave_nothing_behind(plane, follow):
    server = follow(plane, "--workers", "1", program=RELEASE)
    snapshots, caller, after = [snapshot(4 * MIB, n) for n in (5, 6)], server.caller(), {}
    for number in range(1, 11):
        requests = 5 + number % 2
        plane.set(f"v{number}", *snapshots[number % 2])
        wait_until(lambda n=number: server.loads() == n, "an update")
        eventually(f"OK: OK {requests} of {requests}/HOUR", lambda: caller.peek("d0", ["k", "v"]))
        if number == 2:
            let_last(3)             # the snapshot before is let go a second later
            after[2] = resident_bytes(server)
        elif number > 2:
            wait_until(lambda: resident_bytes(server) < 1.8 * after[2], f"not twice {after[2] // MIB} MiB")
