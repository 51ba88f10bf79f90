# SPDX-License-Identifier: Apache-2.0
"""One run of h2load with the request that everything is measured with."""
import re
import subprocess
from pathlib import Path

PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
RUN_SECONDS = 300
# A gRPC frame is five bytes; a reply with two statuses is never as short as ten.
LEAST_REPLY = 10


def field(number: int, content: bytes) -> bytes:
    """A protobuf field of bytes; both lengths here fit one byte."""
    return bytes([number << 3 | 2, len(content)]) + content


def descriptor(key: str, value: str) -> bytes:
    return field(2, field(1, field(1, key.encode()) + field(2, value.encode())))


def request() -> bytes:
    """RateLimitRequest: a domain and two descriptors of one entry each, 67 bytes."""
    return (field(1, b"edge_proxy") + descriptor("remote_address", "10.0.0.1")
            + descriptor("path", "/api/v1/users"))


def write_body(path: Path) -> None:
    message = request()
    path.write_bytes(b"\0" + len(message).to_bytes(4, "big") + message)


def run(address: str, body: Path, connections: int, streams: int, requests: int) -> float:
    """Requests a second. Raises unless each was answered with a message."""
    words = ["h2load", "-t", "1", "-c", str(connections), "-m", str(streams), "-n", str(requests), "-d", str(body),
             "-H", "content-type: application/grpc", "-H", "te: trailers", f"http://{address}{PATH}"]
    out = subprocess.run(words, capture_output=True, text=True, timeout=RUN_SECONDS, check=True).stdout
    done = re.search(r"(\d+) succeeded, (\d+) failed", out)
    data = re.search(r"headers \(.*?\), \S+ \((\d+)\) data", out)
    rate = re.search(r"finished in .*?, ([\d.]+) req/s", out)
    if not done or not data or not rate or int(done[1]) != requests:
        raise RuntimeError(f"h2load against {address}: not all were answered:\n{out}")
    if int(data[1]) < requests * LEAST_REPLY:
        raise RuntimeError(f"h2load against {address}: {int(data[1])} bytes are no {requests} replies:\n{out}")
    return float(rate[1])
