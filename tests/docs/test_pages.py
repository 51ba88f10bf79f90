# SPDX-License-Identifier: Apache-2.0
"""What pages name is there: options, variables, metrics, lines of the log. A page about a subject names all of it."""
import functools
import glob
import os
import re

import pytest
import weirserver

DOCS = os.path.join(weirserver.ROOT, "docs")
PAGES = {os.path.basename(path): path for path in [*glob.glob(os.path.join(DOCS, "*.md")),
                                                   os.path.join(weirserver.ROOT, "README.md")]}
FLAG = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w…-])")
VARIABLE = re.compile(r"\bWEIR_[A-Z_]+\b")
METRIC = re.compile(r"\b[a-z][a-z_]+_total\b")
# Of other programs: cmake, pkg-config, kubectl, ./dev bench; and what Kubernetes sets by itself.
FOREIGN = {
    "client.md": {"--cflags", "--install", "--libs", "--prefix", "--variable"},
    "kubernetes.md": {"--from-literal", "WEIR_PORT"},
    "performance.md": {"--preload", "--rounds", "--tool"},
}
# Flags and variables of a subject, how many there are at least, and its metrics.
SUBJECTS = {
    "redis.md": (re.compile(r"redis|REDIS|^(?!STOP_|MEM).*CACHE|over-limit-cache"
                            r"|^--(store|store-health|replicas|failure-mode)$"),
                 40, re.compile(r"^redis_tls_|^over_limit_with_local_cache")),
    "xds.md": (re.compile(r"xds|XDS|^CONFIG_|^--rules-source|INITIAL_CONFIG|CONFIG_LOADED"), 25, re.compile(r"^xds_")),
}
# Of the log's table: what stands in code at the beginning of a line, without what fills it.
SAID = re.compile(r"^\| ((?:`[^`|]+`(?:, )?)+) \|", re.M)


@functools.cache
def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def page(name):
    return text_of(PAGES[name])


@functools.cache
def said_by(program, *words):
    result = weirserver.run(weirserver.binary(program), *words)
    assert result.returncode == 0
    return result.stdout


def options():
    """Flags and variables of the server."""
    return {name for line in said_by("weir", "--list-options").splitlines()[1:] for name in line.split()[:2]}


def metrics():
    return {line.split()[0] for line in said_by("weir", "--list-metrics").splitlines()}


def flags():
    """Of all that is run by hand."""
    helps = [said_by("weir", "--help"), said_by("weir", "simulate", "--help"), said_by("weirctl", "--help")]
    return options() | {flag for text in helps for flag in FLAG.findall(text)}


def is_named(name, text):
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


@pytest.mark.parametrize("name", sorted(PAGES))
def test_flags_are_there(name):
    assert set(FLAG.findall(page(name))) - FOREIGN.get(name, set()) <= flags()


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"README.md", "client.md"}))    # where WEIR_ begins names of C
def test_variables_are_there(name):
    assert set(VARIABLE.findall(page(name))) - FOREIGN.get(name, set()) <= options()


@pytest.mark.parametrize("name", sorted(FOREIGN))
def test_what_is_of_others_is_not_ours(name):
    assert FOREIGN[name] <= {*FLAG.findall(page(name)), *VARIABLE.findall(page(name))}
    assert not FOREIGN[name] & flags()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_metrics_are_there(name):
    assert set(METRIC.findall(page(name))) <= metrics()


@pytest.mark.parametrize("name", sorted(SUBJECTS))
def test_a_subject_is_whole(name):
    option, at_least, metric = SUBJECTS[name]
    about = {n for n in options() if option.search(n)}
    counted = {n for n in metrics() if metric.search(n)}
    assert len(about) > at_least and counted
    assert [n for n in sorted(about | counted) if not is_named(n, page(name))] == []


def phrases(name):
    table = re.search(r"^## What the log says$\n(.*?)(?=^## |\Z)", page(name), re.M | re.S).group(1)
    said = [phrase for cell in SAID.findall(table) for phrase in re.findall(r"`([^`]+)`", cell)]
    assert len(said) > 5
    return said


@functools.cache
def sources():
    paths = glob.glob(os.path.join(weirserver.ROOT, "server", "**", "*.c"), recursive=True)
    return re.sub(r'"\s*\n\s*"', "", "".join(text_of(path) for path in paths))


@pytest.mark.parametrize("name, phrase", [(name, phrase) for name in sorted(SUBJECTS) for phrase in phrases(name)])
def test_the_log_can_say_it(name, phrase):
    code = re.fullmatch(r"answers ([A-Z]+(?: .+)?)", phrase)
    if code:
        assert f'"{code[1]}"' in sources()
    elif phrase != "Connection refused":    # the system's own words
        said = phrase.removesuffix(", reason: store").replace("NAME", "%s")
        assert any(said.replace("HOST:PORT", place) in sources() for place in ("%s", "%s:%u")), name
