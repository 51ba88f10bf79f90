# SPDX-License-Identifier: Apache-2.0
"""What a call costs with counters in Redis: Weir and Redis apart, how fast both are together, how long calls take
at half of that, and what a counter known to be over costs beside one in memory."""
import argparse
import contextlib
import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import load
import servers

SETUPS = [(4, 50, 100000), (50, 1, 60000)]
LATENCY_SECONDS = 4
AIM_TOTAL_US, AIM_RATE, AIM_P99_US = 25.0, 90000.0, 5000.0
# The machine is as busy as a bench makes it: no call may fall back on a failure mode while CPU is measured.
PATIENT = ["--redis-timeout", "5s"]
OVER_RULES = servers.RULES.replace("4000000000", "1")
CACHE = ["--over-limit-cache-bytes", "1048576"]


@dataclass
class Redis:
    process: subprocess.Popen[bytes]
    url: str

    def cpu_seconds(self) -> float:
        return servers.cpu_seconds(self.process.pid)


@contextlib.contextmanager
def private_redis(program: str) -> Iterator[Redis]:
    """A server on a Unix socket that keeps nothing."""
    with tempfile.TemporaryDirectory(prefix="weir-redis-") as folder:
        path = os.path.join(folder, "sock")
        words = [program, "--port", "0", "--unixsocket", path, "--dir", folder, "--save", "", "--appendonly", "no"]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            try:
                end, pause = time.monotonic() + servers.START_SECONDS, threading.Event()
                while not os.path.exists(path):
                    if process.poll() is not None or time.monotonic() > end:
                        raise RuntimeError(f"{program} did not open {path}")
                    pause.wait(0.02)
                yield Redis(process, "unix:" + path)
            finally:
                process.terminate()


@contextlib.contextmanager
def weir(args: argparse.Namespace, folder: Path, *flags: str, rules: str = servers.RULES) -> Iterator[servers.Server]:
    server = servers.start_weir(args.programs, folder, args.workers, args.preload, flags=flags, rules=rules)
    try:
        yield server
    finally:
        server.stop()


def one_run(server: servers.Server, redis: Redis, body: Path, setup: tuple[int, int, int], scale: float) -> dict[str, float]:
    connections, streams, requests = setup
    requests = max(1000, round(requests * scale))
    load.run(server.address, body, connections, streams, max(1000, requests // 20))
    before = server.cpu_seconds(), redis.cpu_seconds()
    rate = load.run(server.address, body, connections, streams, requests)
    own, theirs = ((now - then) * 1e6 / requests for now, then in
                   zip((server.cpu_seconds(), redis.cpu_seconds()), before))
    return {"weir_us": own, "redis_us": theirs, "total_us": own + theirs, "rate": rate}


def percentile(ordered: list[int], part: float) -> int:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def calls(args: argparse.Namespace, folder: Path, body: Path) -> dict[str, dict[str, float]]:
    found: dict[str, list[dict[str, float]]] = {f"{c}x{s}": [] for c, s, _ in SETUPS}
    for _ in range(args.rounds):
        with private_redis(args.redis_server) as redis, \
                weir(args, folder, "--store", "redis", "--redis-url", redis.url, *PATIENT) as server:
            for setup in SETUPS:
                found[f"{setup[0]}x{setup[1]}"].append(one_run(server, redis, body, setup, args.scale))
    return {name: {what: statistics.median(run[what] for run in runs) for what in runs[0]} for name, runs in found.items()}


def latencies(args: argparse.Namespace, folder: Path, body: Path, rate: float) -> dict[str, float]:
    with private_redis(args.redis_server) as redis, \
            weir(args, folder, "--store", "redis", "--redis-url", redis.url, *PATIENT) as server:
        rounds = [load.latencies_us(server.address, body, 4, round(rate), LATENCY_SECONDS, folder / "latencies")
                  for _ in range(args.rounds)]
    return {f"half_rate_{name}_us": statistics.median(percentile(r, part) for r in rounds)
            for name, part in (("p50", 0.5), ("p99", 0.99))}


def over_limit(args: argparse.Namespace, folder: Path, body: Path) -> dict[str, float]:
    """CPU of a call whose counters are over: answered by the cache, and by the store in memory."""
    setup, found = SETUPS[0], {"cached": [], "local": []}
    for _ in range(args.rounds):
        with private_redis(args.redis_server) as redis:
            for name, flags in (("cached", ["--store", "redis", "--redis-url", redis.url, *PATIENT, *CACHE]), ("local", [])):
                with weir(args, folder, *flags, rules=OVER_RULES) as server:
                    found[name].append(one_run(server, redis, body, setup, args.scale)["weir_us"])
    cached, local = (statistics.median(runs) for runs in found.values())
    return {"over_cached_us": cached, "over_local_us": local, "over_ratio": cached / local}


def measure(args: argparse.Namespace, folder: Path, body: Path) -> dict[str, object]:
    table = calls(args, folder, body)
    print(f"\nCounters in Redis: CPU µs a call of two descriptors, workers {args.workers}, "
          f"median of {args.rounds} rounds")
    print(f"{'':8}{'weir':>8}{'redis':>8}{'total':>8}{'calls/s':>10}")
    for name, row in table.items():
        print(f"{name:8}{row['weir_us']:8.2f}{row['redis_us']:8.2f}{row['total_us']:8.2f}{row['rate']:10.0f}")
    first = next(iter(table.values()))
    slow = latencies(args, folder, body, first["rate"] / 2)
    print(f"at half of that rate: p50 {slow['half_rate_p50_us']:.0f} µs, p99 {slow['half_rate_p99_us']:.0f} µs")
    over = over_limit(args, folder, body)
    print(f"a call over its limits: {over['over_cached_us']:.2f} µs with the cache, {over['over_local_us']:.2f} µs in "
          f"memory, ratio {over['over_ratio']:.2f}")
    return {"calls": table, **slow, **over, "total_us_4x50": first["total_us"], "rate_4x50": first["rate"]}
