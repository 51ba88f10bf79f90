# SPDX-License-Identifier: Apache-2.0
"""What the over-limit cache answers is what Redis would, to the last status."""
import random
import time

import pytest
from test_redis import PATIENT, health, ready
from weirserver import same, wait_until

RULES = """
domain: d
descriptors:
  - key: a
    rate_limit: {unit: day, requests_per_unit: 1}
  - key: b
    rate_limit: {unit: day, requests_per_unit: 5, count: all_or_nothing}
  - key: c
    rate_limit: {unit: hour, requests_per_unit: 4, count: admitted}
  - key: shadow
    shadow_mode: true
    rate_limit: {unit: day, requests_per_unit: 2}
  - key: layers
    limits:
      - {unit: hour, requests_per_unit: 3}
      - {unit: month, requests_per_unit: 9}
      - {unit: year, requests_per_unit: 20}
  - key: counted
    limits:
      - {unit: hour, requests_per_unit: 3, count: all}
      - {unit: year, requests_per_unit: 5, count: all}
---
domain: group
count: all_or_nothing
descriptors:
  - key: a
    rate_limit: {unit: day, requests_per_unit: 1, count: all}
  - key: b
    rate_limit: {unit: day, requests_per_unit: 5}
  - key: c
    rate_limit: {unit: hour, requests_per_unit: 20}
"""
KEYS = {"d": ["a", "a", "b", "c", "shadow", "layers", "counted"], "group": ["a", "a", "b", "c"]}
STOP = ("--stop-increment-when-over-limit",)


@pytest.fixture
def serve_both(redis, launch):
    """Callers of a server that counts in memory, and of one with the cache before Redis."""
    def start(*flags):
        rules = dict(zip(("d.yaml", "group.yaml"), RULES.split("---\n")))
        memory = launch(rules, *flags)
        wait_until(lambda: health(memory) == "SERVING", "rules in force")
        cached = launch(rules, "--store", "redis", "--redis-url", redis.url, *PATIENT, "--over-limit-cache-bytes",
                        "100000", *flags)
        return memory.caller(), ready(cached)
    return start


def draw(chance):
    """A call, mostly of hits that soon are too many, now and then with some given back."""
    domain = chance.choice(sorted(KEYS))
    descriptors = []
    for _ in range(chance.randint(1, 3)):
        descriptor = {"entries": [[chance.choice(KEYS[domain]), str(chance.randint(1, 2))]]}
        if chance.random() < 0.5:
            descriptor["refund" if chance.random() < 0.1 else "hits"] = chance.choice([0, 1, 2, 7])
        descriptors.append(descriptor)
    return domain, descriptors


def test_the_others_are_judged_by_their_hits(serve_both):
    for caller in serve_both():
        for _ in range(6):
            caller.call("d", [["a", "1"]])
        same("OVER: OVER 0 of 1/DAY, OVER 0 of 5/DAY", caller.call("d", [["a", "1"]], [["b", "1"]], hits=7))
        same("OK: OK 5 of 5/DAY", caller.peek("d", ["b", "1"]))


def test_the_longest_wait_is_shown(serve_both):
    for caller in serve_both(*STOP):
        for _ in range(3):
            caller.call("d", [["layers", "1"]])
        for _ in range(5):
            same("OVER: OVER 0 of 3/HOUR", caller.call("d", [["layers", "1"]]))
        same("OVER: OVER 0 of 20/YEAR", caller.call("d", [["layers", "1"]], hits=30))


@pytest.mark.parametrize("flags", [(), STOP], ids=["by count", "stop"])
def test_random_calls_have_the_statuses_of_memory(redis, serve_both, flags):
    memory, cached = serve_both(*flags)
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    for i in range(1500):
        domain, descriptors = draw(chance)
        want, got = memory.call(domain, *descriptors), cached.call(domain, *descriptors)
        assert got == want, f"call {i} of seed {seed}: {domain}, {descriptors}"

    def is_seldom_asked():
        """Of 50 calls for one key alone, what the cache is for: at first, then once in 100 ms; and a probe each second. A
        busy machine may make them so slow that it is each."""
        began, before = time.monotonic(), redis.calls_of("evalsha")
        for _ in range(50):
            same("OVER: OVER 0 of 1/DAY", cached.call("d", [["a", "mine"]], hits=2))
        asked, took = redis.calls_of("evalsha") - before, time.monotonic() - began
        assert asked <= 10 + took / 0.1 + took
        return asked <= 45

    wait_until(is_seldom_asked, "calls that are answered without asking")
