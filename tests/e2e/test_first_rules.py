# SPDX-License-Identifier: Apache-2.0
"""Until rules are in force the server looks for them, says what is wrong once, and does not end."""
import os
import shutil

import pytest
import weirserver
from grpc_health.v1 import health_pb2, health_pb2_grpc
from weirserver import same, wait_until

GOOD = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 5}}\n"
BAD = "domain: d\ndescriptors: 7\n"
WORSE = "domain: d\n\n\nkeys: 7\n"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Waiting:
    """A server without rules, and one who watches its health."""

    def __init__(self, server, folder):
        self.server, self.folder = server, str(folder)
        self.caller = server.caller()
        self.health = health_pb2_grpc.HealthStub(self.caller.channel)
        self.watch = self.health.Watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert next(self.watch).status == NOT_SERVING

    def put(self, text):
        """File and folder are whole from the moment they are seen: an empty folder would be a configuration."""
        new = self.folder + ".new"
        weirserver.write_rules(new, text)
        if os.path.exists(self.folder):
            os.rename(os.path.join(new, "rules.yaml"), os.path.join(self.folder, "rules.yaml"))
            os.rmdir(new)
        else:
            os.rename(new, self.folder)

    def expect_logged(self, text, times=1):
        wait_until(lambda: self.server.log().count(text) >= times, f"{times} times in the log: {text}\n{self.server.log()}")

    def expect_no_rules(self):
        assert self.server.process.poll() is None, self.server.log()
        assert self.caller.call("d", [["k", "a"]]) == {"error": "UNAVAILABLE"}
        assert self.health.Check(health_pb2.HealthCheckRequest(), timeout=weirserver.PATIENCE_SECONDS).status == NOT_SERVING

    def expect_rules(self):
        assert next(self.watch).status == SERVING
        same("OK: OK 4 of 5/HOUR", self.caller.call("d", [["k", "a"]]))


@pytest.fixture
def by_setting(launch, tmp_path):
    """RUNTIME_ROOT names a directory that is not there yet."""
    root = tmp_path / "root"
    server = launch({}, "--grpc-listen", "127.0.0.1:0", by_flags=False, env={"RUNTIME_ROOT": root, "RUNTIME_WATCH_ROOT": "false"})
    return Waiting(server, root / "config")


def test_a_directory_that_appears(by_setting):
    by_setting.expect_no_rules()
    by_setting.put(GOOD)
    by_setting.expect_rules()


def test_bad_files_and_a_directory_that_vanishes_meanwhile(by_setting):
    absent = by_setting.folder + ": No such file or directory"
    by_setting.expect_logged(absent)
    by_setting.put(BAD)
    by_setting.expect_logged("rules.yaml:2:14: ")
    by_setting.expect_no_rules()
    by_setting.put(WORSE)
    by_setting.expect_logged("rules.yaml:4:1: ")
    by_setting.expect_no_rules()
    shutil.rmtree(by_setting.folder)
    by_setting.expect_logged(absent, times=2)
    by_setting.expect_no_rules()
    by_setting.put(GOOD)
    by_setting.expect_rules()
    for once in ("rules.yaml:2:14: ", "rules.yaml:4:1: "):
        assert by_setting.server.log().count(once) == 1


def test_a_directory_of_bad_files_given_by_flag_vanishes(launch):
    server = launch(BAD)
    waiting = Waiting(server, server.rules)
    waiting.expect_no_rules()
    shutil.rmtree(server.rules)
    waiting.expect_logged(server.rules + ": No such file or directory")
    waiting.expect_no_rules()
    waiting.put(WORSE)
    waiting.expect_logged("rules.yaml:4:1: ")
    waiting.put(GOOD)
    waiting.expect_rules()
