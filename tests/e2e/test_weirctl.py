# SPDX-License-Identifier: Apache-2.0
"""weirctl, and by it the client library, against the server."""
import json
import os
import re
import socket
import stat
import subprocess
import tempfile

import pytest
import weirserver

RULES = """\
domain: d
descriptors:
  - {key: k, rate_limit: {unit: hour, requests_per_unit: 2, name: two}}
  - {key: free, rate_limit: {unlimited: true}}
"""
OK, OVER_LIMIT, NO_ANSWER, USAGE = 0, 1, 2, 64
NOT_SERVING = 1     # of `weirctl health`


@pytest.fixture
def server(launch_stores):
    return launch_stores(RULES)


@pytest.fixture
def ctl(server):
    def run(command, *words, target=None):
        return weirserver.run(weirserver.binary("weirctl"), command, *words, "--target", target or server.address,
                              "--timeout", "60s")
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
    assert (unknown.returncode, unknown.stdout.split()) == (NOT_SERVING, ["SERVICE_UNKNOWN", "nobody"])
    with subprocess.Popen([weirserver.binary("weirctl"), "health", "--watch", "--target", server.address],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=weirserver.clean_environment({})) as watch:
        assert watch.stdout.readline().strip() == "SERVING"
        server.signal_stop()
        assert watch.stdout.readline().strip() == "NOT_SERVING"
        said = watch.stderr.read()
        weirserver.expect_no_report(watch.wait(20), said)
        assert watch.returncode == NO_ANSWER


def test_no_answer(ctl):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        result = ctl("check", "d", "k=a", target="127.0.0.1:%d" % s.getsockname()[1])
    assert result.returncode == NO_ANSWER
    assert "no answer" in result.stderr


def test_server_error_is_no_answer_and_explained(launch_stores):
    server = launch_stores("domain: [\n")
    result = weirserver.run(weirserver.binary("weirctl"), "check", "d", "k=a", "--target", server.address, "--timeout", "60s")
    assert result.returncode == NO_ANSWER
    assert "no answer: " in result.stderr
    assert "configuration" in result.stderr


@pytest.mark.parametrize("words, named", [
    (["check"], "DOMAIN"), (["check", "d"], "a descriptor"), (["check", "", "k=a"], "DOMAIN is empty"), (["check", "d", "novalue"], "key=value"),
    (["nothing"], "nothing"), (["check", "d", "k=a", "--hits", "x"], "--hits"),
    (["check", "d", "k=a", "--peek", "--hits", "1"], "--peek")])
def test_wrong_command_line(words, named):
    result = weirserver.run(weirserver.binary("weirctl"), *words)
    assert result.returncode == USAGE
    assert named in result.stderr


def test_table_is_what_a_person_reads(ctl):
    result = ctl("check", "d", "k=tom,jane=1", "k=a", "free=y")
    heading, blank, columns, *rows = result.stdout.splitlines()
    assert (heading, blank) == ("OK", "")
    assert columns.split() == ["#", "CODE", "LIMIT", "REMAINING", "RESET", "DESCRIPTOR"]
    assert [row.split()[:4] for row in rows] == [["1", "OK", "-", "-"], ["2", "OK", "2/hour", "1"],
                                                 ["3", "OK", "unlimited", "-"]]
    assert [row[columns.index("DESCRIPTOR"):] for row in rows] == ["k=tom,jane=1", "k=a  (two)", "free=y"]
    assert result.stderr == ""


def test_a_value_with_a_comma(ctl):
    first, second = (json.loads(ctl("check", "d", "k=a\\,b=c", "--json", *more).stdout)["statuses"][0]
                     for more in ([], ["--peek"]))
    assert (first["remaining"], second["remaining"]) == (1, 1)


def test_what_the_server_refuses_is_the_callers_mistake(ctl):
    result = ctl("check", "d", b"k=\xff", "--json")
    said = json.loads(result.stdout)
    assert (result.returncode, said["outcome"], said["error"]["code"]) == (NO_ANSWER, "no_answer", "invalid")
    assert "UTF-8" in said["error"]["text"]


def test_by_a_unix_socket(launch):
    with tempfile.TemporaryDirectory() as folder:  # pytest's own can be longer than a socket's path
        target = f"unix:{folder}/weir.sock"
        launch(RULES, listen=target)
        run = [weirserver.run(weirserver.binary("weirctl"), *words, "--target", target, "--timeout", "60s")
               for words in (["check", "d", "k=a"], ["health"])]
    assert [r.returncode for r in run] == [OK, OK], [r.stderr for r in run]


def test_help_names_every_option_and_exit_status():
    result = weirserver.run(weirserver.binary("weirctl"), "--help")
    assert (result.returncode, result.stderr) == (0, "")
    for word in ["--hits", "--peek", "--refund", "--limit", "--rate", "--connections", "--in-flight", "--duration", "--requests",
                 "--keys", "--watch", "--target", "--timeout", "--json", "--version", "2 no answer", "64"]:
        assert word in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert weirserver.run(weirserver.binary("weirctl"), "health", "--help").stdout == result.stdout


def test_version():
    assert re.fullmatch(r"weirctl \d+\.\d+\.\d+\n", weirserver.run(weirserver.binary("weirctl"), "--version").stdout)


def test_an_answer_that_cannot_be_written_is_no_success(server):
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = weirserver.run(weirserver.binary("weirctl"), "health", "--target", server.address, "--timeout", "60s",
                                stdout=full)
    assert result.returncode == 74
    assert "cannot write" in result.stderr
