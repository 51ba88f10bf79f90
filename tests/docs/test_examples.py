# SPDX-License-Identifier: Apache-2.0
"""Every rule file that the documentation shows, or that is shipped as an example, does what it says:
a ```yaml block loads without a warning, a ```yaml warned block with the warning it begins with, and a ```yaml refused
block fails with the error it begins with."""
import glob
import os
import re

import pytest
import weirserver

ROOT = weirserver.ROOT
DOCUMENTS = sorted([os.path.join(ROOT, "README.md"), *glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)])
RULES_REFERENCE = os.path.join(ROOT, "docs", "rules.md")
EXAMPLES = os.path.join(ROOT, "deploy", "examples", "rules")
BLOCK = re.compile(r"^( *)```yaml( refused| warned)?\n(.*?)^ *```", re.M | re.S)
PLACE = re.compile(r" \(in [^)]*\)")     # where in the rules: the documents leave it out
# What the documents show of the output of `weir check`, and the files that it is said about.
SAID = re.compile(r"^(?P<file>[\w/]+\.ya?ml):(?P<line>\d+):\d+: (?:error|warning): .*$", re.M)
SAID_ABOUT = {
    ("docs/operations.md", 6): """\
domain: edge
descriptors:
  - key: user
    rate_limit:
      requests_per_unit: 20
      units: minute
""",
    ("docs/rules.md", 4): """\
domain: edge
descriptors:
  - key: user
    rateLimit: {unit: minute, requests_per_unit: 20}
""",
}
KEYS = ["domain", "descriptors", "key", "value", "rate_limit", "unit", "requests_per_unit", "unlimited", "name",
        "replaces", "shadow_mode", "quota_mode", "detailed_metric", "value_to_metric", "share_threshold", "metadata",
        "count", "failure_mode", "limits", "group_ip", "ipv4", "ipv6", "window", "unit_multiplier", "algorithm", "align",
        "time_zone", "burst", "buckets", "headroom", "warm_up", "duration", "start"]


def blocks(document):
    """(line, kind, text) of every YAML block, without the indentation of a list it stands in."""
    with open(document, encoding="utf-8") as f:
        body = f.read()
    for m in BLOCK.finditer(body):
        text = re.sub(f"^{m.group(1)}", "", m.group(3), flags=re.M)
        yield body.count("\n", 0, m.start()) + 1, (m.group(2) or " shown").strip(), text


def is_rules(text):
    return re.search(r"^domain:", text, re.M) is not None


def check(text, folder, *flags):
    weirserver.write_rules(folder, text)
    result = weirserver.run(weirserver.binary("weir"), "check", *flags, "rules.yaml", cwd=folder)
    return result.returncode, PLACE.sub("", result.stdout + result.stderr)


ALL_BLOCKS = [(os.path.relpath(d, ROOT), *block) for d in DOCUMENTS if os.path.exists(d) for block in blocks(d)]
SHOWN = [pytest.param(text, id=f"{document}:{line}")
         for document, line, kind, text in ALL_BLOCKS if is_rules(text) and kind == "shown"]
REFUSED = [pytest.param(text, id=f"{document}:{line}") for document, line, kind, text in ALL_BLOCKS if kind == "refused"]
WARNED = [pytest.param(text, id=f"{document}:{line}") for document, line, kind, text in ALL_BLOCKS if kind == "warned"]


@pytest.mark.parametrize("text", SHOWN)
def test_shown_rules_load(text, tmp_path):
    status, output = check(text, tmp_path, "--strict")
    assert status == 0, output


@pytest.mark.parametrize("text", REFUSED)
def test_refused_rules_say_why(text, tmp_path):
    said, = re.findall(r"\A# (error: .*)$", text, re.M)
    status, output = check(text, tmp_path, "--strict")
    assert status == 1
    assert said in output


@pytest.mark.parametrize("text", WARNED)
def test_warned_of_rules_load_and_are_refused_when_strict(text, tmp_path):
    said, = re.findall(r"\A# (warning: .*)$", text, re.M)
    status, output = check(text, tmp_path)
    assert status == 0, output
    assert said in output
    status, output = check(text, tmp_path, "--strict")
    assert status == 1
    assert "0 domains" in output and said.replace("warning:", "error:") in output


def shown_messages():
    """{(document, line of the rule file): (rule file, message)}"""
    shown = {}
    for document in DOCUMENTS:
        with open(document, encoding="utf-8") as f:
            for m in SAID.finditer(f.read()):
                shown[os.path.relpath(document, ROOT), int(m.group("line"))] = (m.group("file"), m.group())
    return shown


def test_shown_messages_are_known():
    assert set(shown_messages()) == set(SAID_ABOUT)


@pytest.mark.parametrize("place", SAID_ABOUT, ids=str)
def test_shown_message_is_what_check_prints(place, tmp_path):
    file, message = shown_messages()[place]
    weirserver.write_rules(tmp_path, {file: SAID_ABOUT[place]})
    result = weirserver.run(weirserver.binary("weir"), "check", file, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout.splitlines()[0] == message


def test_every_key_has_an_example():
    shown = "\n".join(text for _, kind, text in blocks(RULES_REFERENCE) if kind == "shown")
    assert [k for k in KEYS if not re.search(rf"\b{k}:", shown)] == []


def test_the_reference_shows_whole_files_only():
    assert [line for line, kind, text in blocks(RULES_REFERENCE) if kind == "shown" and not is_rules(text)] == []


def test_no_block_was_overlooked():
    for document in DOCUMENTS:
        with open(document, encoding="utf-8") as f:
            marks = len(re.findall(r"^ *```yaml", f.read(), re.M))
        assert marks == len(list(blocks(document))), document


def test_shipped_examples_load():
    assert glob.glob(os.path.join(EXAMPLES, "*.yaml"))
    result = weirserver.run(weirserver.binary("weir"), "check", "--strict", EXAMPLES)
    assert result.returncode == 0, result.stdout + result.stderr
