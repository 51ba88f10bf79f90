# SPDX-License-Identifier: Apache-2.0
"""Servers of one scenario, and a crowd of callers that writes down what became of each call."""
import collections
import contextlib
import itertools
import shutil
import tempfile
import threading
import time
from dataclasses import dataclass

import grpc
import oraclelib
from redisserver import RedisServer, find_server
from weirserver import PATIENCE_SECONDS, Server, binary, wait_until

OK, OVER, NO_ANSWER = "OK", "OVER_LIMIT", "UNAVAILABLE"
DEADLINE = PATIENCE_SECONDS     # of a caller
CHANNEL = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0), ("grpc.enable_http_proxy", 0)]


class Bed:
    """Begins servers; all end with it, and a Weir that does not end well is a failure."""

    def __init__(self):
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return self.stack.__exit__(*what)

    def folder(self):
        path = tempfile.mkdtemp(prefix="weir-redis.")
        self.stack.callback(shutil.rmtree, path)
        return path

    def redis(self, *settings, port=None):
        folder = self.folder()
        program = find_server(folder)
        assert program, "no redis-server here; Debian has it in redis-tools"
        server = RedisServer(program, folder, port)
        self.stack.callback(server.stop)
        return server.start(*settings)

    def weir(self, rules, url, *flags, env=None):
        """One that has reached its Redis, and says at its end what it counted: see counted()."""
        server = Server(binary("weir_observed"), self.folder())
        self.stack.callback(server.stop)
        server.start(rules, "--store", "redis", "--redis-url", url, *flags, env=env)
        wait_until(lambda: "health: SERVING" in server.log(), "a server that has reached Redis")
        return server

    def enter(self, manager):
        return self.stack.enter_context(manager)


def let_last(seconds):
    """A fault lasts so long: it is time that does the harm, and nothing else tells when it is done."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= end, "the end of a fault", seconds + 10)


def counted(server):
    """{metric: sum} of a server, which is stopped for it."""
    server.stop()
    words = [line.split() for line in server.log().splitlines() if line.startswith("counted ")]
    assert words, server.log()
    return {name: int(number) for _, name, number in words}


@dataclass
class Call:
    key: str
    begun: float
    took: float
    code: str           # OK, OVER_LIMIT, or the name of an error
    remaining: int


def ask(method, data):
    """-> (code, remaining)"""
    try:
        reply = oraclelib.rls_pb2.RateLimitResponse.FromString(method(data, timeout=DEADLINE))
    except grpc.RpcError as e:
        return e.code().name, None
    return oraclelib.rls_pb2.RateLimitResponse.Code.Name(reply.overall_code), reply.statuses[0].limit_remaining


def request(key, value, hits=0):
    return oraclelib.build_request({"domain": "d", "desc": [[[key, value]]], "hits": hits}).SerializeToString()


class Crowd:
    """Threads that ask for (key, value) of a list in turn, each at an even pace, of one server each; they begin
    and end with it. rate: calls a second of all together, None: as fast as it goes."""

    def __init__(self, servers, pairs, rate=None, threads=8):
        self.calls, self.over = [], threading.Event()
        self.pause = threads / rate if rate else 0
        self.channels = [grpc.insecure_channel(servers[i % len(servers)].address, options=CHANNEL)
                         for i in range(threads)]
        for channel in self.channels:
            grpc.channel_ready_future(channel).result(timeout=PATIENCE_SECONDS)
        self.threads = [threading.Thread(target=self.run, args=(c, itertools.cycle(pairs[i:] + pairs[:i])))
                        for i, c in enumerate(self.channels)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()
        for channel in self.channels:
            channel.close()

    def run(self, channel, pairs):
        method = channel.unary_unary(oraclelib.METHOD)
        for key, value in pairs:
            data, begun = request(key, value), time.monotonic()
            code, remaining = ask(method, data)
            self.calls.append(Call(value, begun, time.monotonic() - begun, code, remaining))
            if self.over.wait(max(0, begun + self.pause - time.monotonic())):
                return

    def wait_calls(self, n):
        """Until n more are over."""
        want = len(self.calls) + n
        wait_until(lambda: len(self.calls) >= want, f"{n} more calls")

    def wait_all_calls(self, n):
        """Until n are over since the begin."""
        self.wait_calls(max(0, n - len(self.calls)))

    def wait_answer(self, since):
        """The moment at which a call was answered that began at `since` or later."""
        return wait_until(lambda: next((c.begun + c.took for c in self.calls[:]
                                        if c.begun >= since and c.code in (OK, OVER)), None), "an answer")

    def codes(self):
        return collections.Counter(c.code for c in self.calls)

    def per_key(self, *codes):
        """{key: calls with one of these codes; without any: all}"""
        return collections.Counter(c.key for c in self.calls if not codes or c.code in codes)
