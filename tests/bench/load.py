# SPDX-License-Identifier: Apache-2.0
"""One run of h2load, or of weirctl, with the request that everything is measured with."""
import json
import re
import subprocess
from pathlib import Path

PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
DOMAIN = "edge_proxy"
DESCRIPTORS = [("remote_address", "10.0.0.1"), ("path", "/api/v1/users")]
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
    return field(1, DOMAIN.encode()) + b"".join(descriptor(*pair) for pair in DESCRIPTORS)


def write_body(path: Path) -> None:
    message = request()
    assert len(message) == 67, len(message)
    path.write_bytes(b"\0" + len(message).to_bytes(4, "big") + message)


def h2load(address: str, body: Path, *words: str) -> str:
    """What it prints. Raises unless each request was answered with a message."""
    head = ["h2load", "-t", "1", "-d", str(body), "-H", "content-type: application/grpc", "-H", "te: trailers"]
    out = subprocess.run([*head, *words, f"http://{address}{PATH}"], capture_output=True, text=True,
                         timeout=RUN_SECONDS, check=True).stdout
    done = re.search(r"(\d+) done, (\d+) succeeded", out)
    data = re.search(r"headers \(.*?\), \S+ \((\d+)\) data", out)
    if not done or not data or int(done[1]) == 0 or done[1] != done[2]:
        raise RuntimeError(f"h2load against {address}: not all were answered:\n{out}")
    if int(data[1]) < int(done[1]) * LEAST_REPLY:
        raise RuntimeError(f"h2load against {address}: {int(data[1])} bytes are no {done[1]} replies:\n{out}")
    return out


def closed(address: str, body: Path, connections: int, streams: int, *words: str) -> tuple[int, float]:
    """One request behind the other on each stream -> how many, and how many a second."""
    out = h2load(address, body, "-c", str(connections), "-m", str(streams), *words)
    done, rate = re.search(r"(\d+) done", out), re.search(r"finished in .*?, ([\d.]+) req/s", out)
    if not done or not rate:
        raise RuntimeError(f"h2load against {address}: no result:\n{out}")
    return int(done[1]), float(rate[1])


def run(address: str, body: Path, connections: int, streams: int, requests: int) -> float:
    """As many requests as that, one behind the other on each stream -> requests a second."""
    done, rate = closed(address, body, connections, streams, "-n", str(requests))
    if done != requests:
        raise RuntimeError(f"h2load against {address}: {done} were sent, not {requests}")
    return rate


def run_for(address: str, body: Path, connections: int, streams: int, seconds: int) -> float:
    """The same for so long -> requests a second."""
    return closed(address, body, connections, streams, "-D", str(seconds))[1]


def weirctl_for(program: Path, address: str, connections: int, streams: int, seconds: int) -> float:
    """The same by `weirctl bench` -> requests a second."""
    words = [DOMAIN, *(f"{key}={value}" for key, value in DESCRIPTORS), "--target", address,
             "--connections", str(connections), "--in-flight", str(streams), "--duration", f"{seconds}s", "--json"]
    out = subprocess.run([str(program), "bench", *words], capture_output=True, text=True, timeout=RUN_SECONDS, check=True)
    return float(json.loads(out.stdout)["per_second"])


def latencies_us(address: str, body: Path, connections: int, rate: int, seconds: int, log: Path) -> list[int]:
    """At a steady rate, whether answers are late or not -> how long each took, in order of size."""
    log.unlink(missing_ok=True)
    h2load(address, body, "-c", str(connections), "-m", "100", "-D", str(seconds),
           "--rps", str(rate // connections), "--log-file", str(log))
    return sorted(int(line.split("\t")[2]) for line in log.read_text(encoding="utf-8").splitlines())
