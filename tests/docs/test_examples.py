# SPDX-License-Identifier: Apache-2.0
"""Every rule file that the documentation shows, or that is shipped as an example, loads."""
import glob
import os
import re

import pytest
import weirserver

ROOT = weirserver.ROOT
DOCUMENTS = sorted([os.path.join(ROOT, "README.md"), *glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)])
RULES_REFERENCE = os.path.join(ROOT, "docs", "rules.md")
EXAMPLES = os.path.join(ROOT, "deploy", "examples", "rules")
BLOCK = re.compile(r"^( *)```yaml[^\n]*\n(.*?)^ *```", re.M | re.S)
KEYS = ["domain", "descriptors", "key", "value", "rate_limit", "unit", "requests_per_unit", "unlimited", "name",
        "replaces", "shadow_mode", "quota_mode", "detailed_metric", "value_to_metric", "share_threshold", "metadata"]


def blocks(document):
    """(line, text) of every YAML block, without the indentation of a list it stands in."""
    with open(document, encoding="utf-8") as f:
        body = f.read()
    for m in BLOCK.finditer(body):
        text = re.sub(f"^{m.group(1)}", "", m.group(2), flags=re.M)
        yield body.count("\n", 0, m.start()) + 1, text


def is_rules(text):
    return re.search(r"^domain:", text, re.M) is not None


RULE_BLOCKS = [pytest.param(text, id=f"{os.path.relpath(d, ROOT)}:{line}")
               for d in DOCUMENTS if os.path.exists(d) for line, text in blocks(d) if is_rules(text)]


@pytest.mark.parametrize("text", RULE_BLOCKS)
def test_shown_rules_load(text, tmp_path):
    weirserver.write_rules(tmp_path, text)
    result = weirserver.run(weirserver.binary("weir"), "check", "--strict", "rules.yaml", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_key_has_an_example():
    shown = "\n".join(text for _, text in blocks(RULES_REFERENCE) if is_rules(text))
    assert [k for k in KEYS if not re.search(rf"\b{k}:", shown)] == []


def test_the_reference_shows_whole_files_only():
    assert [line for line, text in blocks(RULES_REFERENCE) if not is_rules(text)] == []


def test_shipped_examples_load():
    assert glob.glob(os.path.join(EXAMPLES, "*.yaml"))
    result = weirserver.run(weirserver.binary("weir"), "check", "--strict", EXAMPLES)
    assert result.returncode == 0, result.stdout + result.stderr
