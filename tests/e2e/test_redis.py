# SPDX-License-Identifier: Apache-2.0
"""Counters in Redis, from the caller to the key and back, and what happens while Redis is away."""
import os
import shutil
import tempfile
import threading

import pytest
from redisserver import RedisServer, find_server
from weirserver import same, wait_until

RULES = """
domain: d
descriptors:
  - key: k
    rate_limit: {unit: hour, requests_per_unit: 5}
  - key: big
    rate_limit: {unit: hour, requests_per_unit: 1000}
"""
# A sanitized server on a busy machine needs longer than a tuned one; what is looked at here is not time.
PATIENT = ("--redis-timeout", "2s")


@pytest.fixture
def start_redis():
    """start_redis(*settings, port=None): a server of its own; all end with the test."""
    folders, servers = [], []

    def start(*settings, port=None):
        folders.append(tempfile.mkdtemp(prefix="weir-redis."))
        program = find_server(folders[-1])
        assert program, "no redis-server here; Debian has it in redis-tools"
        servers.append(RedisServer(program, folders[-1], port))
        return servers[-1].start(*settings)

    yield start
    for server in servers:
        server.stop()
    for folder in folders:
        shutil.rmtree(folder)


@pytest.fixture
def redis(start_redis):
    return start_redis()


@pytest.fixture
def serve(launch):
    def start(url, *flags, **more):
        return launch(RULES, "--store", "redis", "--redis-url", url, *flags, **more)
    return start


def ready(server):
    """Waits until the server has reached its Redis."""
    wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached Redis", 20)
    return server.caller()


@pytest.mark.parametrize("url", ["{url}", "redis://{url}", "redis://{url}/3", "unix:{path}", "{path}"])
def test_counts(redis, serve, url):
    caller = ready(serve(url.format(url=redis.url, path=redis.path), *PATIENT))
    for left in range(4, -1, -1):
        same(f"OK: OK {left} of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 5/HOUR", caller.call("d", [["k", "a"]]))
    same("OK: OK 4 of 5/HOUR, bare", caller.call("d", [["k", "b"]], [["none", ""]]))


def test_two_servers_count_together(redis, serve):
    one, other = (ready(serve(redis.url, *PATIENT)) for _ in range(2))
    for _ in range(2):
        one.call("d", [["k", "a"]])
        other.call("d", [["k", "a"]])
    same("OK: OK 0 of 5/HOUR", one.call("d", [["k", "a"]]))
    same("OVER: OVER 0 of 5/HOUR", other.call("d", [["k", "a"]]))
