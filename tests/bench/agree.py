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
import json
import statistics
import sys
import tempfile
from pathlib import Path

import load
import servers

SHAPES = [(1, 1), (4, 50), (50, 1), (16, 8)]  # connections x in flight


def compare(options: argparse.Namespace, target: str, body: Path, shape: tuple[int, int]) -> dict[str, float]:
    """Which one goes first takes turns, too."""
    theirs, ours = [], []
    for i in range(options.rounds):
        pair = [lambda: theirs.append(load.run_for(target, body, *shape, options.seconds)),
                lambda: ours.append(load.weirctl_for(options.bin / "weirctl", target, *shape, options.seconds))]
        for measure in pair if i % 2 == 0 else reversed(pair):
            measure()
    return {"connections": shape[0], "in_flight": shape[1], "h2load": round(statistics.median(theirs)),
            "weirctl": round(statistics.median(ours)),
            "ratio": round(statistics.median(o / t for o, t in zip(ours, theirs)), 3)}


def compare_all(options: argparse.Namespace, folder: Path) -> list[dict[str, float]]:
    body = folder / "request"
    load.write_body(body)
    weir = servers.start_weir(options.bin, folder, options.workers)
    try:
        return [compare(options, weir.address, body, shape) for shape in SHAPES]
    finally:
        weir.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of weir and weirctl, of a release build")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=2, help="of each run")
    parser.add_argument("--workers", type=int, default=1, help="of the server")
    parser.add_argument("--within", type=float, default=0.10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = compare_all(options, Path(folder))
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
