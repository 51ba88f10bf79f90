# SPDX-License-Identifier: Apache-2.0
"""What callers see of reloads: how long calls take while a rule file changes again and again."""
import os
import statistics
import threading
from pathlib import Path

import load
import servers

RULES = 100
CHANGES_A_SECOND = 10
CALLS_A_SECOND = 2000
CONNECTIONS = 4
PHASE_SECONDS = 2
PHASES_A_ROUND = 2
IN_FORCE = "rules in force:"


def write_rules(path: Path, limit: int) -> None:
    """In one step, as an editor does."""
    rules = "".join(f"  - key: user\n    value: name-{i}\n    rate_limit: {{unit: minute, requests_per_unit: {limit}}}\n"
                    for i in range(RULES))
    new = path.with_suffix(".new")
    new.write_text(f"domain: busy\ndescriptors:\n{rules}", encoding="utf-8")
    os.replace(new, path)


class Writer(threading.Thread):
    """Changes a rule file until it is told to end."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.changes, self.is_over = path, 0, threading.Event()

    def run(self) -> None:
        while not self.is_over.wait(1 / CHANGES_A_SECOND):
            self.changes += 1
            write_rules(self.path, self.changes)

    def end(self) -> None:
        self.is_over.set()
        self.join()


def percentile(ordered: list[int], part: float) -> int:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def compare(weir: servers.Server, rules: Path, body: Path, rounds: int) -> dict[str, float]:
    """Phases without changes and with them, in turn. They are short and many: where the whole machine stands
    still for a moment, that is the p99 of one phase, and their median leaves it out."""
    log, path = rules.parent / "latencies", rules / "busy.yaml"
    found: dict[str, list[float]] = {f"{n}_{p}_us": [] for n in ("quiet", "reloading") for p in ("p50", "p99")}
    before, changes = weir.log().count(IN_FORCE), 0

    def phase(name: str) -> None:
        ordered = load.latencies_us(weir.address, body, CONNECTIONS, CALLS_A_SECOND, PHASE_SECONDS, log)
        found[f"{name}_p50_us"].append(percentile(ordered, 0.5))
        found[f"{name}_p99_us"].append(percentile(ordered, 0.99))

    for _ in range(rounds * PHASES_A_ROUND):
        phase("quiet")
        writer = Writer(path)
        writer.start()
        try:
            phase("reloading")
        finally:
            writer.end()
        changes += writer.changes
    reloads = weir.log().count(IN_FORCE) - before
    if reloads < changes / 2:
        raise RuntimeError(f"{changes} changes, but rules came in force {reloads} times:\n{weir.log()}")
    medians = {name: statistics.median(values) for name, values in found.items()}
    return {**medians, "reload_p99_ratio": medians["reloading_p99_us"] / medians["quiet_p99_us"],
            "changes": changes, "reloads": reloads}
