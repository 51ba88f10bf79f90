# SPDX-License-Identifier: Apache-2.0
"""Calls at a fixed rate, until told to stop; every failure is kept.

The rate is an open loop's: what is late is not left out, and what a slow answer holds up is made up for.
"""
import collections
import itertools
import json
import socket
import threading
import time

import grpc
import oraclelib
from weirserver import PATIENCE_SECONDS

TICK_SECONDS = 0.01


class Load:
    """Counts calls that were sent, that were answered well, and what became of the others."""

    def __init__(self, rate):
        self.rate, self.sent, self.good = rate, 0, 0
        self.failures = collections.Counter()
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.begun = time.monotonic()
        self.ended = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def note(self, failure=None):
        with self.lock:
            if failure is None:
                self.good += 1
            else:
                self.failures[failure] += 1

    def paced(self, share=1):
        """Yields once a call, at rate / share, until the load is over."""
        begun = time.monotonic()
        for n in itertools.count():
            ahead = begun + n * share / self.rate - time.monotonic()
            if self.over.wait(ahead if ahead > TICK_SECONDS else 0):
                return
            with self.lock:
                self.sent += 1
            yield

    def stop(self):
        """Waits for what is under way."""
        if self.over.is_set():
            return
        self.over.set()
        self.ended = time.monotonic()
        self.finish()

    @property
    def sent_per_second(self):
        return self.sent / ((self.ended or time.monotonic()) - self.begun)

    def __str__(self):
        return f"{self.sent} calls at {self.sent_per_second:.0f}/s, {sum(self.failures.values())} failed {dict(self.failures)}"


class GrpcLoad(Load):
    """grpcio, several channels to one target. policy: a service config.

    As callers have it by default: a call is sent again when it was not sent, or the server did not look at it.
    """

    def __init__(self, rate, target, request, channels, policy=None):
        super().__init__(rate)
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0), ("grpc.initial_reconnect_backoff_ms", 100),
                   ("grpc.max_reconnect_backoff_ms", 300),
                   # So long a connection may take to come about; a refusal is known at once.
                   ("grpc.min_reconnect_backoff_ms", PATIENCE_SECONDS * 1000)]
        if policy:
            options.append(("grpc.service_config", json.dumps(policy)))
        self.channels = [grpc.insecure_channel(target, options=options) for _ in range(channels)]
        for channel in self.channels:
            grpc.channel_ready_future(channel).result(timeout=PATIENCE_SECONDS)
        self.data = oraclelib.build_request(request).SerializeToString()
        self.answered = threading.Condition()
        self.begun = time.monotonic()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        methods = itertools.cycle([c.unary_unary(oraclelib.METHOD) for c in self.channels])
        for _ in self.paced():
            next(methods).future(self.data, timeout=PATIENCE_SECONDS).add_done_callback(self.take)

    def take(self, future):
        error = future.exception()
        self.note(error and f"{error.code().name}: {error.details()}")
        with self.answered:
            self.answered.notify()

    def finish(self):
        self.thread.join()
        with self.answered:
            assert self.answered.wait_for(lambda: self.good + sum(self.failures.values()) == self.sent, 2 * PATIENCE_SECONDS), str(self)
        for channel in self.channels:
            channel.close()


class FullLoad(GrpcLoad):
    """As many calls under way as `depth` at any time, as fast as they are answered."""

    def __init__(self, depth, *args, **more):
        self.depth, self.next_method = depth, None
        super().__init__(0, *args, **more)

    def run(self):
        self.next_method = itertools.cycle([c.unary_unary(oraclelib.METHOD) for c in self.channels]).__next__
        for _ in range(self.depth):
            self.send()

    def send(self):
        with self.lock:
            self.sent += 1
            method = self.next_method()
        method.future(self.data, timeout=PATIENCE_SECONDS).add_done_callback(self.take)

    def take(self, future):
        if not self.over.is_set():
            self.send()
        super().take(future)


class HttpLoad(Load):
    """HTTP/1.1 by hand on several connections, one request at a time on each."""

    def __init__(self, rate, port, connections=16, **headers):
        super().__init__(rate)
        self.port, self.connections = port, connections
        fields = "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in headers.items())
        self.request = f"GET / HTTP/1.1\r\nhost: edge\r\n{fields}\r\n".encode()
        self.threads = [threading.Thread(target=self.run) for _ in range(connections)]
        for thread in self.threads:
            thread.start()

    def run(self):
        sock = None
        for _ in self.paced(self.connections):
            try:
                sock = sock or socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)
                sock.sendall(self.request)
                status = self.status(sock)
            except OSError as error:
                status = str(error)
                if sock:
                    sock.close()
                sock = None
            self.note(None if status == "200" else status)
        if sock:
            sock.close()

    @staticmethod
    def status(sock):
        reply = b""
        while not reply.endswith(b"\r\n\r\n"):
            more = sock.recv(4096)
            if not more:
                raise ConnectionError("closed")
            reply += more
        return reply.split(b" ", 2)[1].decode()

    def finish(self):
        for thread in self.threads:
            thread.join()
