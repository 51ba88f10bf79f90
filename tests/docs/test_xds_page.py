# SPDX-License-Identifier: Apache-2.0
"""docs/xds.md names every option about control planes, and nothing that is not there: options, metrics, lines of the log."""
import os
import re

import weirserver
from test_redis_page import listed, sources

PAGE = os.path.join(weirserver.ROOT, "docs", "xds.md")


def page():
    with open(PAGE, encoding="utf-8") as f:
        return f.read()


def test_every_option_is_there():
    names = {n for words in listed("--list-options")[1:] for n in words[:2]}
    about = {n for n in names if re.search(r"xds|XDS|^CONFIG_|^--rules-source|INITIAL_CONFIG|CONFIG_LOADED", n)}
    assert len(about) > 25
    assert [n for n in sorted(about) if not re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", page())] == []


def test_no_other_option_is_there():
    known = {n for words in listed("--list-options")[1:] for n in words[:2]}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+(?![\w-])", page())) - {"--list-metrics"}
    assert len(named) > 15
    assert named <= known, named - known


def test_metrics_are_there():
    known = {words[0] for words in listed("--list-metrics")}
    named = set(re.findall(r"\b[a-z][a-z_]+_total\b", page()))
    assert named and named <= known, named - known
    assert {n for n in known if n.startswith("xds_")} <= named


def test_the_log_can_say_it():
    table = page().split("## What the log says")[1]
    phrases = re.findall(r"^\| `([^`]+)` \|", table, re.M)
    assert len(phrases) > 5
    for phrase in phrases:
        assert phrase.replace("HOST:PORT", "%s") in sources(), phrase
