# SPDX-License-Identifier: Apache-2.0
"""Measures what weir costs, in ratios within one run: `./dev bench`, or see --help.

The servers take turns (echo, weir, echo, weir, …) and begin anew every round, so that what the
machine does meanwhile meets both; a figure is the median of its rounds.
"""
import argparse
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import load
import reload
import remote
import servers

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Setup:
    connections: int
    streams: int
    requests: int
    aim: float | None = None  # weir's CPU a request, in that of the echo

    @property
    def name(self) -> str:
        return f"{self.connections}x{self.streams}"


SETUPS = [Setup(1, 1, 30000), Setup(4, 50, 150000, 1.35), Setup(50, 1, 100000, 1.35), Setup(16, 8, 150000)]

# By what is measured of them in the local store: takes on how many keys, by how many threads.
KIND_PLACES = ("one_key_ns_threads_1", "one_key_ns_threads_2", "million_keys_ns_threads_1",
               "million_keys_ns_threads_2")

# And what a take may cost, in that of a fixed window.
KINDS: list[tuple[str, float | None]] = [
    ("first_hit", 1.5), ("calendar", 1.5), ("token_bucket", 1.5), ("sliding_window", 1.5), ("sliding_buckets", 1.5),
    ("sliding_log", None), ("warmed_up_bucket", 1.5)]

# What is measured, the aim, and how it is worded.
AIMS: list[tuple[str, float | None, str]] = [
    ("reload_p99_ratio", 1.5, "p99 of calls while rules are reloaded, in that without"),
    ("bytes_a_live_counter", 64.0, "bytes of memory a live counter, 1 000 000 of them"),
    ("contended_percent_threads_2", 1.0, "% of takes that found their stripe locked, 2 threads, 1 000 keys"),
    ("total_us_4x50", remote.AIM_TOTAL_US, "µs of CPU a call, Weir and Redis together, 4x50"),
    ("half_rate_p99_us", remote.AIM_P99_US, "µs p99 of calls with Redis, at half of its highest rate"),
    ("over_ratio", None, "CPU of a call known to be over in Redis, in that of one in memory"),
    ("match_ratio_exact", 1.25, "match of one of ten values, 100 000 on the level against ten"),
    ("match_ratio_exact_any_of_them", None, "match of any value of 100 000 on the level against one of ten"),
    ("match_ratio_prefixes", 3.0, "match of a wildcard at the end, 1 000 on the level against ten"),
    ("match_ratio_prefixes_none_fits", 3.0, "search among such wildcards that finds none, 1 000 against ten"),
    ("reload_all_ms", 1000.0, "ms to reload 1 000 domains of 100 rules, all changed"),
    ("reload_one_ms", None, "ms to reload one changed file of them"),
    *((f"kind_most_{kind}", aim, f"CPU of a take from {kind}, in that of fixed_window: the most of the four")
      for kind, aim in KINDS),
]


def verdict(value: float, aim: float | None) -> str:
    return "" if aim is None else f"{'met' if value <= aim else 'MISSED'} (aim {aim:g})"


class Bench:
    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.args, self.folder = args, folder
        self.body = folder / "request"
        load.write_body(self.body)

    def cpu_us(self, server: servers.Server, setup: Setup) -> dict[str, float]:
        requests = max(1, round(setup.requests * self.args.scale))
        load.run(server.address, self.body, setup.connections, setup.streams, max(1000, requests // 20))
        before = server.cpu_seconds()
        rate = load.run(server.address, self.body, setup.connections, setup.streams, requests)
        return {"cpu_us": (server.cpu_seconds() - before) * 1e6 / requests, "rate": rate}

    def one_round(self, results: dict[str, dict[str, list[dict[str, float]]]]) -> None:
        args = self.args
        echo = servers.start_echo(args.programs, self.folder, args.workers)
        try:
            weir = servers.start_weir(args.programs, self.folder, args.workers, args.preload)
            try:
                for setup in SETUPS:
                    for name, server in (("echo", echo), ("weir", weir)):
                        results[setup.name][name].append(self.cpu_us(server, setup))
            finally:
                weir.stop()
        finally:
            echo.stop()

    def calls(self) -> dict[str, object]:
        results: dict[str, dict[str, list[dict[str, float]]]] = {s.name: {"echo": [], "weir": []} for s in SETUPS}
        for _ in range(self.args.rounds):
            self.one_round(results)
        table: dict[str, object] = {}
        print(f"\nServer CPU a call, workers {self.args.workers}, median of {self.args.rounds} rounds")
        print(f"{'':8}{'echo µs':>9}{'weir µs':>9}{'ratio':>7}  {'of each round':<24}{'echo/s':>9}{'weir/s':>9}")
        for setup in SETUPS:
            echo, weir = results[setup.name]["echo"], results[setup.name]["weir"]
            ratios = [w["cpu_us"] / e["cpu_us"] for e, w in zip(echo, weir)]
            row = {f"{name}_{what}": statistics.median(r[what] for r in runs)
                   for name, runs in (("echo", echo), ("weir", weir)) for what in ("cpu_us", "rate")}
            ratio = statistics.median(ratios)
            print(f"{setup.name:8}{row['echo_cpu_us']:9.2f}{row['weir_cpu_us']:9.2f}{ratio:7.2f}"
                  f"  {min(ratios):.2f} to {max(ratios):<15.2f}{row['echo_rate']:9.0f}{row['weir_rate']:9.0f}"
                  f"  {verdict(ratio, setup.aim)}")
            table[setup.name] = {**row, "ratio": ratio, "ratios": ratios, "aim": setup.aim}
        return table

    def program(self, *words: str) -> dict[str, float]:
        out = subprocess.run([str(self.args.programs / words[0]), *words[1:]], capture_output=True, text=True,
                             check=True).stdout
        return {name: float(value) for name, value in (line.split() for line in out.splitlines())}

    def reload(self) -> dict[str, float]:
        weir = servers.start_weir(self.args.programs, self.folder, self.args.workers, self.args.preload)
        try:
            figures = reload.compare(weir, servers.rules_folder(self.folder), self.body, self.args.rounds)
        finally:
            weir.stop()
        print(f"\nWhile a file of {reload.RULES} rules is written anew {reload.CHANGES_A_SECOND} times a second, "
              f"{reload.CALLS_A_SECOND} calls a second")
        print(f"{'':12}{'p50 µs':>9}{'p99 µs':>9}")
        for name in ("quiet", "reloading"):
            print(f"{name:12}{figures[f'{name}_p50_us']:9.0f}{figures[f'{name}_p99_us']:9.0f}")
        print(f"{figures['changes']} changes, {figures['reloads']} times rules came in force")
        return figures

    def store(self) -> dict[str, float]:
        figures = self.program("take_bench")
        print("\nThe local store alone, 1 000 keys")
        print(f"{'threads':8}{'CPU ns a take':>15}{'contended %':>13}")
        for threads in (1, 2, 4, 8):
            print(f"{threads:<8}{figures[f'take_ns_threads_{threads}']:15.1f}"
                  f"{figures[f'contended_percent_threads_{threads}']:13.4f}")
        print("a batch of two takes, CPU ns: "
              + ", ".join(f"{name} {figures[f'pair_ns_{name}']:.0f}" for name in ("plain", "group", "stop")))
        return figures

    def kinds(self) -> dict[str, float]:
        figures = self.program("kind_bench")
        print("\nA take from the local store by algorithm, CPU ns, in brackets that of a fixed window's turn")
        print(f"{'':18}" + "".join(f"{column:>14}" for column in ("one key", "2 threads", "10⁶ keys", "2 threads"))
              + f"{'a new one':>11}{'bytes':>7}")
        for kind in ("fixed_window", *(kind for kind, _ in KINDS)):
            cells = (f"{figures[f'{kind}_{place}']:.0f} ({figures[f'{kind}_ratio_{place}']:.2f})"
                     for place in KIND_PLACES)
            print(f"{kind:18}" + "".join(f"{cell:>14}" for cell in cells)
                  + f"{figures[f'{kind}_new_ns']:11.0f}{figures[f'{kind}_bytes_a_counter']:7.0f}")
            figures[f"most_{kind}"] = max(figures[f"{kind}_ratio_{place}"] for place in KIND_PLACES)
        spreads = (max((figures[f"{kind}_high_{place}"] - figures[f"{kind}_low_{place}"]) / 2
                       for kind, aim in KINDS if aim) for place in KIND_PLACES)
        print("half of the rounds are within ±" + ", ".join(f"{spread:.2f}" for spread in spreads)
              + " of these ratios, column by column, that of sliding_log apart")
        return {f"kind_{name}": value for name, value in figures.items()}

    def redis(self) -> dict[str, object]:
        return remote.measure(self.args, self.folder, self.body)

    def limit(self) -> dict[str, float]:
        figures = self.program("limit_bench")
        print("\nA take by algorithm, without a store, CPU ns")
        print(f"{'':20}{'roomy':>8}{'tight':>8}")
        for name in (key[len("limit_ns_roomy_"):] for key in figures if key.startswith("limit_ns_roomy_")):
            print(f"{name:20}{figures[f'limit_ns_roomy_{name}']:8.1f}{figures[f'limit_ns_tight_{name}']:8.1f}")
        return {**figures, **self.kinds()}

    def rules(self) -> dict[str, float]:
        figures = self.program("match_bench")
        print("\nMatching one entry, CPU ns, by the rules on its level")
        print(f"{'':20}{'ten':>8}{'many':>8}{'ratio':>8}{'how many':>10}")
        for name in (key[len("match_ratio_"):] for key in figures if key.startswith("match_ratio_")):
            few, many, ratio, n = (figures[f"match_{what}_{name}"] for what in ("few_ns", "many_ns", "ratio", "many"))
            print(f"{name:20}{few:8.0f}{many:8.0f}{ratio:8.2f}{n:10.0f}")
        many_files = self.folder / "many"
        many_files.mkdir()
        return {**figures, **self.program("load_bench", str(many_files))}


def cpu_model() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    return found[1] if found else platform.processor()


def first_line(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.partition("\n")[0]


def machine(programs: Path) -> dict[str, object]:
    packages = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", "libgrpc-dev", "gcc", "libc6",
                               "nghttp2-client"], capture_output=True, text=True, check=True).stdout
    return {"cpu": cpu_model(), "cores": os.cpu_count(), "kernel": platform.release(),
            "weir": first_line(str(programs / "weir"), "--version"), "load_before": os.getloadavg(),
            **dict(line.split(" ", 1) for line in packages.splitlines())}


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measures weir against a bare gRPC C core echo.")
    parser.add_argument("parts", nargs="*", metavar="PART", help="calls, reload, limit, store, redis, rules (default: all)")
    parser.add_argument("--store", choices=["local", "redis"], help="redis: the same as the part redis")
    parser.add_argument("--rounds", type=int, default=5, help="of the servers (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="times as many requests a run (default 1)")
    parser.add_argument("--workers", type=int, default=1, help="of both servers (default 1)")
    parser.add_argument("--preload", help="a library for weir's LD_PRELOAD, such as another malloc")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/bench/bin", help="where they were built")
    parser.add_argument("--redis-server", default="redis-server", help="the program (default redis-server)")
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench.json", help="where the figures go")
    args = parser.parse_args()
    if args.store == "redis":
        args.parts.append("redis")
    if unknown := set(args.parts) - {"calls", "reload", "limit", "store", "redis", "rules"}:
        parser.error(f"no part {', '.join(sorted(unknown))}")
    return args


def print_aims(figures: dict[str, float]) -> None:
    print()
    for name, aim, text in AIMS:
        if name in figures:
            print(f"{figures[name]:9.4g}  {text}  {verdict(figures[name], aim)}")


def main() -> None:
    args = parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the servers are ended too
    report: dict[str, object] = {"machine": machine(args.programs)}
    figures: dict[str, float] = {}
    print("\n".join(f"{k}: {v}" for k, v in machine(args.programs).items()))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, Path(folder))
        parts = {"reload": bench.reload, "limit": bench.limit, "store": bench.store, "redis": bench.redis,
                 "rules": bench.rules}
        if not args.parts or "calls" in args.parts:
            report["calls"] = bench.calls()
        for name, part in parts.items():
            if not args.parts or name in args.parts:
                report[name] = found = part()
                figures.update({k: v for k, v in found.items() if isinstance(v, float)})
    print_aims(figures)
    report["load_after"] = os.getloadavg()
    args.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"\nload average {', '.join(f'{v:.1f}' for v in os.getloadavg())}; figures in {args.json}")


if __name__ == "__main__":
    main()
