# SPDX-License-Identifier: Apache-2.0
"""How `./dev test` counts what a program printed and how it ended."""
import os
import subprocess

import checks
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(checks.__file__))))
CRITERION = "[====] Synthesis: Tested: {} | Passing: {} | Failing: {} | Crashing: 0 \n"
LEAK = "==7==ERROR: LeakSanitizer: detected memory leaks\n"
UNDEFINED = "clock.c:7:3: runtime error: signed integer overflow\n"
RACE = "WARNING: ThreadSanitizer: data race (pid=7)\n"

# The counter, the log, the exit status; passed and failed.
ROWS = [
    ("count_criterion", CRITERION.format(5, 5, 0), 0, "5 0"),
    ("count_criterion", CRITERION.format(5, 3, 2), 1, "3 2"),
    ("count_criterion", CRITERION.format(5, 5, 0), 1, "5 1"),
    ("count_criterion", CRITERION.format(0, 0, 0), 0, "0 1"),
    ("count_criterion", "", 139, "0 1"),
    ("count_criterion", LEAK + CRITERION.format(5, 5, 0), 0, "5 1"),
    ("count_criterion", UNDEFINED + CRITERION.format(5, 5, 0), 0, "5 1"),
    ("count_program", "2000000 takes\n", 0, "1 0"),
    ("count_program", "", 66, "0 1"),
    ("count_program", RACE, 0, "0 1"),
    ("count_program", LEAK, 0, "0 1"),
]


@pytest.mark.parametrize("counter, log, status, want", ROWS)
def test_counts(tmp_path, counter, log, status, want):
    (tmp_path / "log").write_text(log, encoding="utf-8")
    script = f'set -euo pipefail; . scripts/tests.sh; logs=$out part=part; {counter} name "$out/log" {status}'
    subprocess.run(["bash", "-c", script], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "root": ROOT, "out": str(tmp_path)})
    assert (tmp_path / "part.count").read_text(encoding="utf-8").split() == want.split()
