# SPDX-License-Identifier: Apache-2.0
"""What docs/algorithms.md says that each algorithm guarantees is what the search for schedules that break it asserts."""
import os
import re

import weirserver

PAGE = os.path.join(weirserver.ROOT, "docs", "algorithms.md")
SCHEDULES = 200  # too few to be sure of anything, enough to print every row
REACHED = re.compile(r"#define REACHED 0\.(\d\d) ")
SEARCH = os.path.join(weirserver.ROOT, "tests", "stress", "limit_guarantees.c")


def section():
    with open(PAGE, encoding="utf-8") as f:
        return re.search(r"^## What each guarantees$\n(.*?)^## ", f.read(), re.M | re.S).group(1)


def promised():
    """(name as the search has it, in a window, in an instant, state) of every row of the table."""
    rows = re.findall(r"^\| `(\w+)`(?:, `align: (\w+)`)? \| (.*?) \| (.*?) \| (.*?) \|$", section(), re.M)
    return {(", ".join(filter(None, row[:2])), *row[2:4], row[4] if "words" in row[4] else "grows") for row in rows}


def searched():
    """The same of every row that the search prints."""
    result = weirserver.run(weirserver.binary("stress_limit_guarantees"), "1", str(SCHEDULES))
    assert result.returncode == 0, result.stderr
    rows = [re.split(r"  +", line) for line in result.stdout.splitlines()[2:]]
    return {(row[0], row[2], row[4], row[7]) for row in rows if row[0] != "layers"}


def test_every_promise_is_searched_for():
    assert searched() == promised()
    assert len(promised()) == 7


def test_how_near_the_search_comes():
    with open(SEARCH, encoding="utf-8") as f:
        source = f.read()
    assert f"to {REACHED.search(source).group(1)} hundredths of every bound" in section()
    assert re.search(r"SCHEDULES = (\d+),", source).group(1) == "100000"
    assert "100 000 of each" in section()
