#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `weirctl bench` measure what h2load measures? Both put the same closed loop on the same server, in turn, so
that a machine that is busy with other things is so for both. Prints the median throughput of each and the median of
the ratios of neighbouring runs; exit status 1 when one is off by more than --within.

One check at a time is shown and not judged: there the tool's own way is a part of each round trip, which h2load goes
with eight system calls and weirctl with four.

    tests/bench/agree.py --bin build/bin [--rounds 9] [--seconds 2] [--within 0.10] [--json]

Needs h2load (Debian: nghttp2-client)."""
import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SHAPES = [(1, 1), (4, 50), (50, 1), (16, 8)]  # connections x in flight
PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
RULES = """\
domain: edge_proxy
descriptors:
  - key: remote_address
    descriptors: [{key: path, rate_limit: {unit: second, requests_per_unit: 1000000000}}]
"""
WORDS = ["edge_proxy", "remote_address=10.0.0.1,path=/api/v1/users"]
START_SECONDS = 20


def field(number, data):
    """A length-delimited field of protobuf; everything here is shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def request():
    """The bytes of WORDS as they travel, behind gRPC's prefix."""
    domain, pairs = WORDS[0].encode(), [pair.encode().split(b"=") for pair in WORDS[1].split(",")]
    message = field(1, domain) + field(2, b"".join(field(1, field(1, k) + field(2, v)) for k, v in pairs))
    return b"\0" + len(message).to_bytes(4, "big") + message


@contextlib.contextmanager
def serving(weir, folder):
    """A server of RULES -> its address."""
    rules, port_file = os.path.join(folder, "rules.yaml"), os.path.join(folder, "ports")
    with open(rules, "w", encoding="utf-8") as f:
        f.write(RULES)
    with subprocess.Popen([weir, "--rules", rules, "--grpc-listen", "127.0.0.1:0", "--port-file", port_file],
                          stderr=subprocess.DEVNULL) as process:
        try:
            yield address(port_file, process)
        finally:
            process.terminate()


def address(port_file, process):
    end, pause = time.monotonic() + START_SECONDS, threading.Event()
    while time.monotonic() < end and process.poll() is None:
        if os.path.exists(port_file):
            with open(port_file, encoding="utf-8") as f:
                found = re.search(r"^grpc (\S+)\n", f.read(), re.M)
            if found:
                return found.group(1)
        pause.wait(0.01)
    sys.exit("agree: the server does not start")


def run(*words):
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"agree: {words[0]} ended with {result.returncode}: {result.stderr}")
    return result.stdout


def h2load(target, body, connections, in_flight, seconds):
    said = run("h2load", "-c", connections, "-m", in_flight, "-D", seconds, "-t", 1, "-d", body,
               "-H", "content-type: application/grpc", "-H", "te: trailers", f"http://{target}{PATH}")
    failed = re.search(r"(\d+) failed, (\d+) errored, (\d+) timeout", said)
    if not failed or any(int(n) for n in failed.groups()):
        sys.exit("agree: h2load had failures:\n" + said)
    return float(re.search(r"finished in [^,]*, ([\d.]+) req/s", said).group(1))


def weirctl(program, target, connections, in_flight, seconds):
    said = json.loads(run(program, "bench", *WORDS, "--target", target, "--connections", connections, "--in-flight", in_flight,
                          "--duration", f"{seconds}s", "--json"))
    return said["per_second"]


def compare(options, target, body, shape):
    """Which one goes first takes turns, too."""
    theirs, ours = [], []
    for i in range(options.rounds):
        pair = [lambda: theirs.append(h2load(target, body, *shape, options.seconds)),
                lambda: ours.append(weirctl(os.path.join(options.bin, "weirctl"), target, *shape, options.seconds))]
        for measure in pair if i % 2 == 0 else reversed(pair):
            measure()
    return {"connections": shape[0], "in_flight": shape[1], "h2load": round(statistics.median(theirs)),
            "weirctl": round(statistics.median(ours)),
            "ratio": round(statistics.median(o / t for o, t in zip(ours, theirs)), 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of weir and weirctl, of a release build")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=2, help="of each run")
    parser.add_argument("--within", type=float, default=0.10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        body = os.path.join(folder, "body")
        with open(body, "wb") as f:
            f.write(request())
        with serving(os.path.join(options.bin, "weir"), folder) as target:
            rows = [compare(options, target, body, shape) for shape in SHAPES]
    if options.json:
        print(json.dumps(rows))
    else:
        print(f"{'shape':>7} {'h2load/s':>9} {'weirctl/s':>9} {'ratio':>6}")
        for row in rows:
            print(f"{row['connections']:>4}x{row['in_flight']:<2} {row['h2load']:>9} {row['weirctl']:>9} {row['ratio']:>6.3f}")
    judged = [row for row in rows if row["connections"] * row["in_flight"] > 1]
    sys.exit(any(abs(row["ratio"] - 1) > options.within for row in judged))


if __name__ == "__main__":
    main()
