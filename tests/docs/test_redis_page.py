# SPDX-License-Identifier: Apache-2.0
"""docs/redis.md names every option about Redis, and nothing that is not there: options, metrics, lines of the log."""
import glob
import os
import re

import pytest
import weirserver

PAGE = os.path.join(weirserver.ROOT, "docs", "redis.md")
ABOUT_REDIS = re.compile(r"redis|REDIS|CACHE|over-limit-cache|^--(store|store-health|replicas|failure-mode)$")
# Of the log's table: what stands in code at the beginning of a line, without what fills it.
SAID = re.compile(r"^\| ((?:`[^`|]+`(?:, )?)+) \|", re.M)


def page():
    with open(PAGE, encoding="utf-8") as f:
        return f.read()


def section(title):
    return re.search(rf"^## {re.escape(title)}$\n(.*?)(?=^## |\Z)", page(), re.M | re.S).group(1)


def listed(what):
    result = weirserver.run(weirserver.binary("weir"), what)
    assert result.returncode == 0
    return [line.split() for line in result.stdout.splitlines()]


def options():
    """Flags and variables, without STOP_CACHE_KEY_…, which is about every store."""
    names = {name for words in listed("--list-options")[1:] for name in words[:2]}
    return {n for n in names if ABOUT_REDIS.search(n) and not n.startswith("STOP_")}


def test_every_option_is_there():
    assert len(options()) > 40
    missing = [n for n in sorted(options()) if not re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", page())]
    assert missing == []


def test_no_other_option_is_there():
    known = {name for words in listed("--list-options")[1:] for name in words[:2]}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+(?![\w…-])", page())) - {"--list-options"}
    assert len(named) > 30
    assert named <= known, named - known


def test_metrics_are_there():
    known = {words[0] for words in listed("--list-metrics")}
    named = set(re.findall(r"\b[a-z][a-z_]+_total\b", page()))
    assert named and named <= known, named - known


def phrases():
    table = section("What the log says")
    said = [p for cell in SAID.findall(table) for p in re.findall(r"`([^`]+)`", cell)]
    assert len(said) > 15
    return said


def sources():
    text = ""
    for path in [*glob.glob(os.path.join(weirserver.ROOT, "server", "**", "*.c"), recursive=True)]:
        with open(path, encoding="utf-8") as f:
            text += f.read()
    return re.sub(r'"\s*\n\s*"', "", text)


@pytest.mark.parametrize("phrase", phrases())
def test_the_log_can_say_it(phrase):
    code = re.fullmatch(r"answers ([A-Z]+(?: .+)?)", phrase)
    if code:
        assert f'"{code[1]}"' in sources()
    elif phrase != "Connection refused":    # the system's own words
        format_ = phrase.replace("HOST:PORT", "%s:%u").replace("NAME", "%s")
        assert format_.removesuffix(", reason: store") in sources()
