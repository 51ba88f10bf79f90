# SPDX-License-Identifier: Apache-2.0
"""`weir simulate` from the outside: what it prints, draws and refuses."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from weirserver import binary, run

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "docs/figures/rules"
RULE = """
domain: d
descriptors:
  - key: k
    rate_limit: {unit: minute, requests_per_unit: 600}
"""


@pytest.fixture
def rule(tmp_path):
    path = tmp_path / "rule.yaml"
    path.write_text(RULE, encoding="utf-8")
    return path


def simulate(*words, cwd=None):
    return run(binary("weir"), "simulate", *map(str, words), cwd=cwd, seconds=120)


def test_the_classic_burst(rule):
    done = simulate("--rule", rule, "--load", "boundary", "--json")
    assert done.returncode == 0, done.stderr
    row, = json.loads(done.stdout)
    assert (row["admitted"], row["refused"], row["limit"], row["window_s"]) == (1200, 0, 600, 60.0)
    assert row["trailing_window"]["ratio"] == row["moment"]["ratio"] == 2.0
    assert row["trailing_window"]["from_s"] == pytest.approx(59.94)


def test_the_table_is_for_people(rule):
    done = simulate("--rule", rule, "--rule", rule, "--load", "steady,rate=20/s,for=3m")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert sum(row[:3] == ["rule", "1800", "1800"] for row in rows) == 2, done.stdout


def test_against_another_window(rule):
    done = simulate("--rule", rule, "--load", "boundary,hits=10", "--against", "300/s", "--json")
    row, = json.loads(done.stdout)
    assert (row["limit"], row["window_s"], row["admitted"]) == (300, 1.0, 20)


@pytest.mark.parametrize("name, begin", [("out.svg", b"<?xml"), ("o'ut.png", b"\x89PNG")])
def test_draws(rule, tmp_path, name, begin):
    assert shutil.which("gnuplot"), "gnuplot is needed: gnuplot-nox"
    done = simulate("--rule", rule, "--load", "boundary", "--plot", tmp_path / name)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).read_bytes().startswith(begin)


def test_without_gnuplot(rule, tmp_path):
    done = run(binary("weir"), "simulate", "--rule", str(rule), "--load", "boundary", "--plot", "x.svg", cwd=tmp_path,
               env={"PATH": str(tmp_path)})
    assert done.returncode == 69 and "gnuplot-nox" in done.stderr
    assert "1200" in done.stdout


@pytest.mark.parametrize("words, status, says", [
    ([], 64, "--rule"),
    (["--rule", "RULE"], 64, "--load"),
    (["--rule", "RULE", "--load", "flood"], 64, "steady, poisson, boundary, adversary or csv:FILE"),
    (["--rule", "RULE", "--load"], 64, "needs a value"),
    (["--rule", "RULE", "--load", "boundary", "more"], 64, "more"),
    (["--rule", "RULE", "--load", "boundary", "--against", "x"], 64, "600/m"),
    (["--rule", "nowhere.yaml", "--load", "boundary"], 65, "nowhere.yaml"),
    (["--rule", "RULE", "--load", "csv:nowhere.csv"], 66, "nowhere.csv"),
    (["--rule", "RULE", "--load", "boundary", "--plot", "x.gif"], 69, ".svg or .png"),
    (["--rule", "RULE", "--load", "steady,rate=1000000/ms"], 65, "attempts"),
])
def test_refused(rule, words, status, says):
    done = simulate(*(str(rule) if w == "RULE" else w for w in words))
    assert (done.returncode, says in done.stderr) == (status, True), done.stderr


def test_a_trace_names_its_bad_line(rule, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("seconds,hits\n1,2\n0.5\n", encoding="utf-8")
    done = simulate("--rule", rule, "--load", f"csv:{trace}")
    assert done.returncode == 65 and f"{trace}:3:" in done.stderr


def test_a_rule_without_a_limit(tmp_path):
    path = tmp_path / "none.yaml"
    path.write_text("domain: d\ndescriptors: [{key: k}]\n", encoding="utf-8")
    done = simulate("--rule", path, "--load", "boundary")
    assert done.returncode == 65 and "no descriptor with a limit" in done.stderr


def test_documentation_says_what_is_simulated():
    done = subprocess.run([sys.executable, ROOT / "scripts/figures.py", "--weir", binary("weir"), "--check"],
                          capture_output=True, text=True, timeout=300, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numbers agree" in done.stdout
