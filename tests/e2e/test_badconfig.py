# SPDX-License-Identifier: Apache-2.0
"""The refused rule files of the recorded scenarios, by `weir check`: a text that the reference
refuses exits 1, the texts before and after it exit 0."""
import os

import oraclelib
import pytest
import weirserver

SCENARIOS = os.path.join(weirserver.ROOT, "tests", "vectors", "scenarios")


def states_of(scenario):
    """(files in place, are they good) at the start and after every change."""
    files = dict(scenario["files"])
    yield dict(files), True
    for _, step in oraclelib.unrolled(scenario["steps"]):
        if "put" in step:
            files.update(step["put"])
            yield dict(files), step.get("expect", "accepted") == "accepted"


def load_cases():
    for _, _, scenarios in oraclelib.load_scenarios(SCENARIOS):
        for s in scenarios:
            if s["area"] == "badconfig" and not s.get("quirk"):
                for n, (files, is_good) in enumerate(states_of(s)):
                    yield pytest.param(files, is_good, id=f"{s['id']}-{n}")


CASES = list(load_cases())


def test_cases_were_found():
    assert len(CASES) > 100
    assert any(not case.values[1] for case in CASES)


@pytest.mark.parametrize("files, is_good", CASES)
def test_check(files, is_good, tmp_path):
    weirserver.write_rules(tmp_path, files)
    result = weirserver.run(weirserver.binary("weir"), "check", *sorted(files), cwd=tmp_path)
    assert result.returncode == (0 if is_good else 1), result.stdout + result.stderr
    assert is_good or any(f"{name}:" in result.stdout + result.stderr for name in files)
