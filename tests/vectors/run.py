#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays the recorded scenarios, and those written by hand, against the built server: all of them
with the embedded store and with a private Redis, every second one with a store that answers late
and from another thread.

What Weir cannot pass yet, or answers differently on purpose, is left out and counted by reason;
tests/e2e/test_quirks.py, test_badconfig.py and test_reload.py hold what Weir does in those. Closes with one line
`N passed, N failed, N left out (…)`.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import glob
import os
import re
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests", "e2e"))
CORPORA = [os.path.join(HERE, "scenarios"), os.path.join(ROOT, "tests", "cases", "scenarios")]
REPORT = re.compile(r"ERROR: \w+Sanitizer|runtime error:|WARNING: ThreadSanitizer")
# What a program ends with when a sanitizer complains: not what `weir check` says of a bad file.
SANITIZER_EXIT = 99

# Each store: the program that serves with it, and which share of the scenarios is replayed.
PROGRAMS = {"local": "weir", "redis": "weir", "slow": "weir_slow_store"}
STEPS = {"local": 1, "redis": 1, "slow": 2}
QUICK_STEP = 4
# A busy machine is no store without an answer.
os.environ.setdefault("SLOW_TIMEOUT_US", "20000000")

# Which scenarios are not for this server, and why. The first reason that fits is counted.
# Without rules Weir is UNAVAILABLE, which the replayer takes for a server that is not up yet.
NEVER_UP = {"reload-start-with-bad-file"}


def reason_to_leave_out(scenario, kinds, areas):
    if not fnmatch.fnmatch(scenario["area"], areas):
        return "another area"
    if scenario["id"] in NEVER_UP:
        return "unavailable without rules"
    if "http" in kinds:
        return "speaks HTTP"
    if scenario.get("quirk"):
        return "quirk"
    return None


def select(corpus, areas):
    """-> ([id], Counter of reasons)"""
    import oraclelib
    ids, left_out = [], collections.Counter()
    for _, _, scenarios in oraclelib.load_scenarios(corpus):
        for s in scenarios:
            reason = reason_to_leave_out(s, {k for _, step in oraclelib.unrolled(s["steps"]) for k in step}, areas)
            if reason is None:
                ids.append(s["id"])
            else:
                left_out[reason] += 1
    return ids, left_out


class Replay:
    """One replayer at work on a share of the scenarios, its output in a file."""

    def __init__(self, corpus, ids, binary, flags, stem):
        """stem: of the names of its files."""
        self.ids = ids
        self.stem = stem
        self.output, self.server_log = stem + ".out", stem + ".server"
        with open(stem + ".ids", "w", encoding="utf-8") as f:
            f.write("\n".join(ids) + "\n")
        command = [sys.executable, os.path.join(HERE, "replay.py"), "--corpus", corpus, "--ids", stem + ".ids",
                   "--cmd", " ".join(["exec", binary, *flags]), "--check-cmd", binary + " check", "--fresh",
                   "--accept", "UNKNOWN=INVALID_ARGUMENT", "--accept", "INTERNAL=INVALID_ARGUMENT",
                   "--reload-timeout", "60", "--log", self.server_log]
        with open(self.output, "w", encoding="utf-8") as f:
            self.process = subprocess.Popen(command, stdout=f, stderr=subprocess.STDOUT, env=self.environment())

    def environment(self):
        """Sanitizers report to files, so that no report is lost in what a replayer throws away."""
        options = f"exitcode={SANITIZER_EXIT}:log_path={self.stem}.report"
        return {**os.environ, **{name: f"{os.environ.get(name, '')}:{options}".lstrip(":")
                                 for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}}

    def end(self):
        """At once, where it is not over: another one could not be begun."""
        self.process.terminate()
        self.process.wait()

    def finish(self):
        """-> (passed, failed). A scenario without a verdict, and a sanitizer's report, are failures."""
        self.process.wait()
        with open(self.output, encoding="utf-8") as f:
            text = f.read()
        print(text, end="")
        passed = len(re.findall(r"^ok  ", text, re.M))
        failed = len(self.ids) - passed
        reports = self.sanitizer_reports()
        if reports:
            print("FAIL sanitizer reports:\n" + "\n".join(reports[:20]))
            failed += 1
        return passed, failed

    def sanitizer_reports(self):
        found = []
        for path in glob.glob(self.stem + ".server") + glob.glob(self.stem + ".report.*"):
            with open(path, encoding="utf-8", errors="replace") as f:
                found += [line.rstrip() for line in f if REPORT.search(line)]
        return found


@contextlib.contextmanager
def store_flags(store):
    """The flags of a server with that store, which is there while they are used."""
    if store != "redis":
        yield []
        return
    from redisserver import RedisServer, find_server
    with tempfile.TemporaryDirectory(prefix="weir-redis-") as folder:
        redis = RedisServer(find_server(folder), folder).start()
        try:
            # A busy machine is no store without an answer.
            yield ["--store", "redis", "--redis-url", redis.url, "--redis-timeout", "5s"]
        finally:
            redis.stop()


def replay_with(store, args):
    """-> (passed, failed, Counter of what was left out)"""
    binary = os.path.join(os.path.abspath(args.bin), PROGRAMS[store])
    step = QUICK_STEP if args.quick else STEPS[store]
    running, left_out = [], collections.Counter()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-replay-"))
        flags = stack.enter_context(store_flags(store))
        for corpus in CORPORA:
            ids, reasons = select(corpus, args.areas)
            chosen = ids[::step]
            if len(chosen) < len(ids):
                reasons["quick" if args.quick else "one store"] = len(ids) - len(chosen)
            left_out += reasons
            for share in filter(None, (chosen[i::args.jobs] for i in range(args.jobs))):
                running.append(Replay(corpus, share, binary, flags, os.path.join(folder, str(len(running)))))
                stack.callback(running[-1].end)
        results = [r.finish() for r in running]
    passed, failed = sum(p for p, _ in results), sum(f for _, f in results)
    print("%s store: %d passed, %d failed, every %d. scenario" % (store, passed, failed, step))
    return passed, failed, left_out


def try_to_replay(store, args):
    """As replay_with; that it could not be done is one failure, which keeps no other store from its turn."""
    try:
        return replay_with(store, args)
    except Exception:   # pylint: disable=broad-exception-caught
        print("FAIL %s store: it could not be replayed with:\n%s" % (store, traceback.format_exc()))
        return 0, 1, collections.Counter()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of the built programs")
    parser.add_argument("--jobs", type=int, default=2, help="replayers side by side of each corpus with each store")
    parser.add_argument("--quick", action="store_true", help="every fourth scenario")
    parser.add_argument("--store", choices=[*PROGRAMS, "all"], default="all", help="the stores to replay with")
    parser.add_argument("--areas", default="*", help="which files of scenarios, * and ? allowed: ext-*")
    args = parser.parse_args()

    # Side by side: a replay mostly waits for windows to end.
    stores = [*PROGRAMS] if args.store == "all" else [args.store]
    with concurrent.futures.ThreadPoolExecutor(len(stores)) as pool:
        results = list(pool.map(lambda store: try_to_replay(store, args), stores))
    passed, failed = sum(r[0] for r in results), sum(r[1] for r in results)
    left_out = next((r[2] for r in results if r[2]), collections.Counter())
    reasons = ", ".join("%d %s" % (n, why) for why, n in left_out.most_common())
    print("%d passed, %d failed, %d left out (%s)" % (passed, failed, sum(left_out.values()), reasons))
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
