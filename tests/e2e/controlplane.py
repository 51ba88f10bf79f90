# SPDX-License-Identifier: Apache-2.0
"""A small control plane: aggregated discovery, state of the world, by the official messages.

Whoever opens a stream gets the rules that are set, once it has asked, and each new set of rules after
that. What it is asked, stream by stream, is kept for tests to look at."""
import queue
import threading
from concurrent import futures

import grpc
import rlsconf
from envoy.service.discovery.v3 import discovery_pb2
from ports import free_port
from weirserver import PATIENCE_SECONDS, wait_until

METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"


def config(domain, *rules, name=None):
    """A RateLimitConfig; rules: maps with the fields of a descriptor."""
    return rlsconf.RateLimitConfig(name=domain if name is None else name, domain=domain, descriptors=rules)


def rule(key, requests=None, unit="HOUR", **more):
    if requests is not None:
        more["rate_limit"] = {"unit": unit, "requests_per_unit": requests}
    return {"key": key, **more}


def response(version, nonce, configs, type_url=rlsconf.TYPE_URL):
    """configs: messages, or their bytes."""
    made = discovery_pb2.DiscoveryResponse(version_info=version, nonce=nonce, type_url=type_url)
    for c in configs:
        made.resources.add(type_url=type_url, value=c if isinstance(c, bytes) else c.SerializeToString())
    return made


class Stream:
    """One stream from its first request on."""

    def __init__(self, headers):
        self.headers, self.requests, self.outbox, self.n_sent = headers, [], queue.Queue(), 0


class ControlPlane:
    """credentials: of a server, or none. resends: answers a refusal at once with what was refused, as
    the snapshot cache of go-control-plane does."""

    def __init__(self, credentials=None, resends=False):
        self.credentials, self.resends = credentials, resends
        self.streams, self.current, self.port, self.server = [], None, free_port(), None
        self.lock = threading.Lock()

    def start(self):
        self.server = grpc.server(futures.ThreadPoolExecutor(max_workers=16), options=[("grpc.so_reuseport", 0)])
        handler = grpc.stream_stream_rpc_method_handler(
            self.serve, discovery_pb2.DiscoveryRequest.FromString)      # responses are put down as bytes
        service, method = METHOD.strip("/").split("/")
        self.server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {method: handler})])
        address = f"127.0.0.1:{self.port}"
        if self.credentials:
            self.server.add_secure_port(address, self.credentials)
        else:
            self.server.add_insecure_port(address)
        self.server.start()
        return self

    def stop(self):
        """All that was asked and set is forgotten, the port is kept."""
        with self.lock:
            for stream in self.streams:
                stream.outbox.put(None)
            self.streams, self.current = [], None
        self.server.stop(0).wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def put(self, stream):
        version, configs, type_url = self.current
        stream.n_sent += 1
        stream.outbox.put(response(version, f"n{stream.n_sent}", configs, type_url).SerializeToString())

    def set(self, version, *configs, type_url=rlsconf.TYPE_URL):
        with self.lock:
            self.current = (version, configs, type_url)
            for stream in self.streams:
                if stream.requests:
                    self.put(stream)

    def on_request(self, stream, request):
        with self.lock:
            stream.requests.append(request)
            is_first = len(stream.requests) == 1
            is_refusal = request.HasField("error_detail")
            if self.current and (is_first or (is_refusal and self.resends)):
                self.put(stream)

    def read(self, stream, requests):
        try:
            for request in requests:
                self.on_request(stream, request)
        except grpc.RpcError:
            pass
        stream.outbox.put(None)

    def serve(self, requests, context):
        stream = Stream(dict(context.invocation_metadata()))
        with self.lock:
            self.streams.append(stream)
        threading.Thread(target=self.read, args=(stream, requests), daemon=True).start()
        yield from iter(stream.outbox.get, None)

    def stream(self, index=-1):
        """The stream of that number, once it is there."""
        wait_until(lambda: len(self.streams) > (index if index >= 0 else 0), "a stream")
        return self.streams[index]

    def answer(self, n, index=-1, seconds=PATIENCE_SECONDS):
        """The n-th answer on a stream, from 1, once it is there."""
        stream = self.stream(index)
        wait_until(lambda: len(stream.requests) > n, f"answer {n} of the stream", seconds)
        return stream.requests[n]
