# SPDX-License-Identifier: Apache-2.0
"""weirctl, and by it the client library, against the server."""
import json
import socket
import subprocess

import pytest
import weirserver

RULES = """\
domain: d
descriptors:
  - {key: k, rate_limit: {unit: hour, requests_per_unit: 2, name: two}}
  - {key: free, rate_limit: {unlimited: true}}
"""
OK, OVER_LIMIT, NO_ANSWER, USAGE = 0, 1, 2, 64


@pytest.fixture
def server(launch_stores):
    return launch_stores(RULES)


@pytest.fixture
def ctl(server):
    def run(command, *words, target=None):
        return weirserver.run(weirserver.binary("weirctl"), command, *words, "--target", target or server.address,
                              "--timeout", "10s")
    return run


def test_check_until_over(ctl):
    runs = [ctl("check", "d", "k=a") for _ in range(3)]
    assert [r.returncode for r in runs] == [OK, OK, OVER_LIMIT], [r.stderr for r in runs]
    assert runs[0].stdout.startswith("OK\n")
    assert "2/hour" in runs[0].stdout.lower()
    assert runs[2].stdout.startswith("OVER_LIMIT, retry in ")


def test_check_json(ctl):
    reply = json.loads(ctl("check", "d", "k=a", "none=x", "free=y", "--json").stdout)
    assert reply["outcome"] == "admitted"
    limit, nothing, free = reply["statuses"]
    assert limit["remaining"] == 1
    assert limit["limit"]["name"] == "two"
    assert nothing["limit"] is None
    assert free["remaining"] == 2**32 - 1


def test_peek_refund_hits_and_limit(ctl):
    def remaining(*words):
        return json.loads(ctl("check", "d", "k=a", "--json", *words).stdout)["statuses"][0]["remaining"]
    assert [remaining("--hits", "2"), remaining("--peek"), remaining("--refund", "1"), remaining("--peek"),
            remaining("--limit", "10/hour")] == [0, 0, 1, 1, 8]


def test_health(ctl, server):
    assert ctl("health").returncode == OK
    unknown = ctl("health", "nobody")
    assert unknown.returncode != OK
    with subprocess.Popen([weirserver.binary("weirctl"), "health", "--watch", "--target", server.address],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watch:
        assert watch.stdout.readline().strip() == "SERVING"
        server.signal_stop()
        assert watch.stdout.readline().strip() == "NOT_SERVING"
        watch.stderr.read()
        assert watch.wait(20) in (OK, NO_ANSWER)


def test_no_answer(ctl):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        result = ctl("check", "d", "k=a", target="127.0.0.1:%d" % s.getsockname()[1])
    assert result.returncode == NO_ANSWER
    assert "no answer" in result.stderr


def test_server_error_is_no_answer_and_explained(launch_stores):
    server = launch_stores("domain: [\n")
    result = weirserver.run(weirserver.binary("weirctl"), "check", "d", "k=a", "--target", server.address, "--timeout", "10s")
    assert result.returncode == NO_ANSWER
    assert "no answer: " in result.stderr
    assert "configuration" in result.stderr


@pytest.mark.parametrize("words", [["check"], ["check", "d"], ["check", "", "k=a"], ["check", "d", "novalue"], ["nothing"],
                                   ["check", "d", "k=a", "--hits", "x"], ["check", "d", "k=a", "--peek", "--hits", "1"]])
def test_wrong_command_line(words):
    result = weirserver.run(weirserver.binary("weirctl"), *words)
    assert result.returncode == USAGE
    assert result.stderr
