# SPDX-License-Identifier: Apache-2.0
"""A rate-limit service that does as it is told: what the real one never says, or only when it is in trouble."""
import contextlib
import socket
import threading
from concurrent import futures

import grpc
from envoy.service.ratelimit.v3 import rls_pb2
from grpc_health.v1 import health_pb2
from ports import free_port

CHECK = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
HEALTH_WATCH = "/grpc.health.v1.Health/Watch"
WAIT_SECONDS = 30


class Handlers(grpc.GenericRpcHandler):
    """Bytes in, bytes out, by path."""

    def __init__(self, unary, stream):
        self.unary, self.stream = unary, stream

    def service(self, details):
        if details.method in self.unary:
            return grpc.unary_unary_rpc_method_handler(self.unary[details.method])
        if details.method in self.stream:
            return grpc.unary_stream_rpc_method_handler(self.stream[details.method])
        return None


@contextlib.contextmanager
def serving(check=None, health=None, watch=None, address=None, options=()):
    """Serves the methods that are given, each as f(request bytes, context), on a free port; yields the target."""
    unary = {path: f for path, f in ((CHECK, check), (HEALTH_CHECK, health)) if f}
    server = grpc.server(futures.ThreadPoolExecutor(16), options=[("grpc.so_reuseport", 0), *options])
    server.add_generic_rpc_handlers((Handlers(unary, {HEALTH_WATCH: watch} if watch else {}),))
    target = address or f"127.0.0.1:{free_port()}"
    server.add_insecure_port(target)
    server.start()
    try:
        yield target
    finally:
        server.stop(None).wait()


def saying(data):
    """Answers every call with these bytes."""
    return lambda request, context: data


def failing(code, message):
    return lambda request, context: context.abort(code, message)


def silent(request, context):
    """Answers nothing until the caller has gone."""
    gone = threading.Event()
    if context.add_callback(gone.set):
        gone.wait(WAIT_SECONDS)
    return b""


def reply(**fields):
    return rls_pb2.RateLimitResponse(**fields).SerializeToString()


def status(**fields):
    return rls_pb2.RateLimitResponse.DescriptorStatus(**fields)


def limit(**fields):
    return rls_pb2.RateLimitResponse.RateLimit(**fields)


def health(state):
    return health_pb2.HealthCheckResponse(status=state).SerializeToString()


@contextlib.contextmanager
def listening(greet=None):
    """A socket that is no gRPC server: it takes connections and, with `greet`, says that and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        def talk():
            while True:
                try:
                    peer, _ = sock.accept()
                except OSError:
                    return
                with peer:
                    peer.sendall(greet)
        thread = threading.Thread(target=talk) if greet is not None else None
        if thread:
            thread.start()
        try:
            yield "127.0.0.1:%d" % sock.getsockname()[1]
        finally:
            sock.shutdown(socket.SHUT_RDWR)
            if thread:
                thread.join()
