# SPDX-License-Identifier: Apache-2.0
"""`weir simulate` from the outside: what it prints, draws and refuses."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from weirserver import binary, run

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "docs/figures/rules"
PAGE = (ROOT / "docs/algorithms.md").read_text(encoding="utf-8")
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
    said = set(re.findall(r"`(\w+)`", PAGE.partition("an object a rule, of")[2].partition(".\n")[0]))
    assert {*row, *row["moment"], "trailing_window", "moment"} == said
    assert (row["admitted"], row["refused"], row["limit"], row["window_s"]) == (1200, 0, 600, 60.0)
    assert row["trailing_window"]["ratio"] == row["moment"]["ratio"] == 2.0
    assert row["trailing_window"]["from_s"] == pytest.approx(59.94)


def test_the_table_is_for_people(rule):
    done = simulate("--rule", rule, "--rule", rule, "--load", "steady,rate=20/s,for=3m")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("rule: k=any: 600 in 1m by fixed_window; measured against 600 in 1m\n") == 2
    rows = [line.split() for line in done.stdout.splitlines()]
    assert sum(row[:3] == ["rule", "1800", "1800"] for row in rows) == 2, done.stdout


def test_help():
    done = simulate("--help", "--nonsense")
    assert done.returncode == 0 and done.stderr == ""
    for word in ("--rule", "--descriptor", "--load", "--against", "--plot", "--json", "steady", "poisson", "boundary",
                 "adversary", "csv:FILE", "50 million"):
        assert word in done.stdout


LAYERS = """
domain: d
descriptors:
  - {key: open}
  - key: free
    rate_limit: {unlimited: true}
  - key: user
    descriptors:
      - key: address
        group_ip: {ipv4: 24}
        shadow_mode: true
        limits:
          - {unit: minute, requests_per_unit: 60}
          - {unit: minute, requests_per_unit: 120, algorithm: token_bucket, burst: 7}
  - key: month
    rate_limit: {unit: month, requests_per_unit: 50, align: calendar, time_zone: Europe/Paris}
"""


@pytest.mark.parametrize("descriptor, plays, admitted", [
    (None, "user=any,address=any: 60 in 1m by fixed_window and 120 in 1m by token_bucket with burst 7, "
           "played as if enforced", 7),
    ("user=ann,address=192.0.2.1", "user=ann,address=192.0.2.1: 60 in 1m by fixed_window", 7),
    ("month=1", "month=1: 50 in a calendar month of Europe/Paris", 100),
])
def test_says_what_is_played(tmp_path, descriptor, plays, admitted):
    path = tmp_path / "layers.yaml"
    path.write_text(LAYERS, encoding="utf-8")
    words = ["--rule", path, "--load", "boundary", "--json", *(["--descriptor", descriptor] if descriptor else [])]
    done = simulate(*words)
    assert done.returncode == 0, done.stderr
    row, = json.loads(done.stdout)
    assert row["plays"].startswith(plays) and row["admitted"] == admitted


@pytest.mark.parametrize("descriptor", ["open=1", "free=1", "user=ann", "nobody=1"])
def test_nothing_to_play(tmp_path, descriptor):
    path = tmp_path / "layers.yaml"
    path.write_text(LAYERS, encoding="utf-8")
    done = simulate("--rule", path, "--load", "boundary", "--descriptor", descriptor)
    assert done.returncode == 65 and "--descriptor" in done.stderr and done.stdout == ""


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


def test_the_picture_is_for_light_and_dark_pages(rule, tmp_path):
    """It says what it shows, and brings its background."""
    name = tmp_path / "a_rule {1}.yaml"
    shutil.copy(rule, name)
    done = simulate("--rule", name, "--load", "boundary", "--plot", tmp_path / "out.svg")
    assert done.returncode == 0, done.stderr
    picture = (tmp_path / "out.svg").read_text(encoding="utf-8")
    assert "a_rule {1}: at most 2.00 × 600 in any 1m" in picture
    assert 'fill="#ffffff"' in picture


def test_bars_of_few_hits_can_be_seen(tmp_path):
    """A hit a slice beside 100 in a moment."""
    (tmp_path / "few.yaml").write_text("domain: d\ndescriptors: [{key: k, rate_limit: {unit: second, requests_per_unit: "
                                       "2, algorithm: token_bucket, burst: 100}}]\n", encoding="utf-8")
    done = simulate("--rule", tmp_path / "few.yaml", "--load", "adversary,for=2m", "--against", "120/m", "--plot",
                    tmp_path / "out.svg")
    assert done.returncode == 0, done.stderr
    bars = re.findall(r"<polygon fill = 'rgb\( 42, 111, 151\)' points = '([^']*)'",
                      (tmp_path / "out.svg").read_text(encoding="utf-8"))
    heights = sorted(max(ys) - min(ys) for ys in ([float(point.split(",")[1]) for point in bar.split()] for bar in bars))
    heights = [height for height in heights if height > 0]  # one of nothing begins the series
    assert len(heights) > 100 and heights[0] > 2.9 and heights[-1] > 10 * heights[0], heights


def test_a_picture_that_cannot_be_written(rule, tmp_path):
    done = simulate("--rule", rule, "--load", "boundary", "--plot", tmp_path / "nowhere/out.svg")
    assert done.returncode == 73 and "No such file or directory" in done.stderr
    assert "<svg" not in done.stdout and "1200" in done.stdout


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
    (["--rule", "RULE", "--load", "boundary", "--against", "x"], 64, "--against: a rate is NUMBER/UNIT"),
    (["--rule", "RULE", "--load", "boundary", "--against", "4294967296/s"], 64, "at most 4294967295 in its unit"),
    (["--rule", "RULE", "--load", "boundary", "--against", "0/s"], 64, "--against: a rate is 1 or more"),
    (["--rule", "RULE", "--load", "boundary", "--against", "1.5/s"], 64, "--against: a rate has a whole number"),
    (["--rule", "RULE", "--load", "boundary,rate=3/s"], 64, "not: 'rate'"),
    (["--rule", "RULE", "--nonsense=1"], 64, "no option --nonsense;"),
    (["--rule", "RULE", "-xy"], 64, "no option -x;"),
    (["--rule", "RULE", "--json=1"], 64, "--json takes no value;"),
    (["--rule", "RULE"] * 17, 64, "16"),
    (["--rule", "RULE", "--load", "boundary", "--descriptor", "user"], 64, "--descriptor is KEY=VALUE"),
    (["--rule", "nowhere.yaml", "--load", "boundary"], 66, "nowhere.yaml"),
    (["--rule", "/", "--load", "boundary"], 66, "regular file"),
    (["--rule", "RULE", "--load", "csv:/"], 66, "directory"),
    (["--rule", "RULE", "--load", "csv:/dev/null"], 65, "no line with a time"),
    (["--rule", "RULE", "--load", "csv:/dev/zero"], 65, "/dev/zero:1:65"),
    (["--rule", "RULE", "--load", "csv:nowhere.csv"], 66, "nowhere.csv"),
    (["--rule", "RULE", "--load", "boundary", "--plot", "x.gif"], 64, ".svg or .png"),
    (["--rule", "RULE", "--load", "steady,rate=1000000/ms"], 65, "attempts"),
    (["--rule", "RULE", "--load", "poisson,rate=100/s,for=36500d"], 65, "attempts"),
    (["--rule", "RULE", "--load", "boundary,hits=4294967295"], 65, "attempts"),
    (["--rule", "RULE", "--load", "adversary,for=36500d"], 65, "attempts"),
    (["--rule", "RULE", "--load", "boundary", "--load", "adversary"], 64, "--load is there twice"),
    (["--rule", "RULE", "--load", "boundary", "--plot", "a.svg", "--plot", "b.svg"], 64, "--plot is there twice"),
])
def test_refused(rule, words, status, says):
    done = simulate(*(str(rule) if w == "RULE" else w for w in words))
    assert (done.returncode, says in done.stderr) == (status, True), done.stderr


def test_each_limit_that_is_met_counts(tmp_path):
    rule = tmp_path / "many.yaml"
    layers = "".join(f"      - {{window: {n}m, requests_per_unit: 9, algorithm: sliding_log}}\n" for n in range(1, 17))
    rule.write_text(f"domain: d\ndescriptors:\n  - key: k\n    limits:\n{layers}", encoding="utf-8")
    done = simulate("--rule", rule, "--load", "steady,rate=10000/s,for=79s")
    assert done.returncode == 65 and "one a limit" in done.stderr, done.stderr


def test_a_name_of_a_file_is_shown_clean_and_cut_between_characters(tmp_path):
    text = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: minute, requests_per_unit: 9}}]\n"
    rule = tmp_path / ("\x1b[31m" + 30 * "ä" + ".yaml")
    rule.write_text(text, encoding="utf-8")
    done = simulate("--rule", rule, "--load", "boundary")
    assert done.returncode == 0 and "\x1b" not in done.stdout and "?[31mä" in done.stdout, done.stderr
    done = simulate("--rule", rule, "--load", "boundary", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["rule"] == "?[31m" + 29 * "ä"


def test_a_trace_names_its_bad_line(rule, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("seconds,hits\n1,2\n0.5\n", encoding="utf-8")
    done = simulate("--rule", rule, "--load", f"csv:{trace}")
    assert done.returncode == 65
    assert done.stderr == f"{trace}:3:1: error: the time is before that of the line above; sort the trace by time\n"


@pytest.mark.parametrize("trace", [
    "1780307998.5,400\n1780308000,700\n",
    "unix_ms,hits\r\n1780307998500,400\r\n1780308000000,700\r\n",
    '"time","hits"\n"2026-06-01T11:59:58.5+02:00","400"\n"2026-06-01T10:00:00Z","700"\n',
])
def test_a_trace_of_real_time(rule, tmp_path, trace):
    """Windows are those of the clock: the minute ends between the two lines."""
    path = tmp_path / "trace.csv"
    path.write_text(trace, encoding="utf-8", newline="")
    done = simulate("--rule", rule, "--load", f"csv:{path}", "--json")
    assert done.returncode == 0, done.stderr
    row, = json.loads(done.stdout)
    assert (row["admitted"], row["refused"]) == (400, 700)
    assert row["trailing_window"]["from"] == "2026-06-01T09:59:58.500Z"
    done = simulate("--rule", rule, "--load", f"csv:{path}", "--plot", tmp_path / "out.svg")
    assert "from 2026-06-01T09:59:58.500Z to 2026-06-01T10:00:00Z" in done.stdout
    assert "seconds from 2026-06-01T09:59:58.500Z" in (tmp_path / "out.svg").read_text(encoding="utf-8")


def test_a_trace_from_a_pipe(rule):
    done = subprocess.run([binary("weir"), "simulate", "--rule", rule, "--load", "csv:/dev/stdin", "--json"],
                          input="0,600\n59,1\n60,1\n", capture_output=True, text=True, timeout=60, check=False)
    row, = json.loads(done.stdout)
    assert (row["admitted"], row["refused"]) == (601, 1)


def most_memory_kb(pid):
    return int(re.search(r"^VmHWM:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(encoding="ascii"), re.M)[1])


def test_a_trace_is_not_kept(rule, tmp_path):
    """A million lines of refused calls take no more memory than a hundredth of that. The trace is a pipe, so all but
    what fits into it has been read when it has been written."""
    trace = tmp_path / "trace.csv"
    os.mkfifo(trace)
    sizes = []
    for lines in (20000, 1000000):
        with subprocess.Popen([binary("weir"), "simulate", "--rule", rule, "--load", f"csv:{trace}"],
                              stdout=subprocess.PIPE) as process:
            with trace.open("wb") as pipe:
                pipe.write(b"7,1000\n" * lines)
                pipe.flush()
                sizes.append(most_memory_kb(process.pid))
            assert f" {1000 * lines} ".encode() in process.stdout.read()
        assert process.returncode == 0
    assert sizes[1] < sizes[0] + 2000, sizes


def test_a_rule_without_a_limit(tmp_path):
    path = tmp_path / "none.yaml"
    path.write_text("domain: d\ndescriptors: [{key: k}]\n", encoding="utf-8")
    done = simulate("--rule", path, "--load", "boundary")
    assert done.returncode == 65 and "no descriptor with a limit" in done.stderr


@pytest.mark.parametrize("descriptor, ratio", [("login=ann", 1.0), ("user=ann", 1.1)])
def test_the_rules_of_the_readme(tmp_path, descriptor, ratio):
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Beyond the fixed window")[2]
    path = tmp_path / "readme.yaml"
    path.write_text(re.search(r"^```yaml\n(.*?)^```", text, re.M | re.S)[1], encoding="utf-8")
    done = simulate("--rule", path, "--descriptor", descriptor, "--load", "adversary", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["trailing_window"]["ratio"] == pytest.approx(ratio, abs=0.005)


COMMANDS = [line.removeprefix("build/bin/weir simulate ") for line in PAGE.splitlines()
            if line.startswith("build/bin/weir simulate ")]


def test_commands_were_found():
    loads = {re.search(r"--load (\w+)", command)[1] for command in COMMANDS}
    assert loads == {"boundary", "adversary", "poisson", "steady", "csv"}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_documentation(tmp_path, command):
    for folder in ("docs", "deploy"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    times = re.findall(r"`([\d.:TZ+-]+)`", PAGE.partition("### A recorded trace")[2].partition("Unix times and")[0])
    assert len(times) == 5
    (tmp_path / "trace.csv").write_text("\n".join(times[1:]), encoding="ascii")
    done = simulate(*command.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("--plot" in command) == (tmp_path / "out.svg").exists()
    if "csv:" in command:
        row, = json.loads(done.stdout)
        assert (row["moment"]["hits"], row["moment"]["from"]) == (4, "2026-06-01T10:00:00.125Z")
    else:
        assert "any trailing window" in done.stdout


def figures(root, *words):
    return subprocess.run([sys.executable, root / "scripts/figures.py", "--weir", binary("weir"), *words],
                          capture_output=True, text=True, timeout=300, check=False, env=dict(os.environ))


def test_documentation_says_what_is_simulated():
    done = figures(ROOT, "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numbers agree" in done.stdout


@pytest.mark.parametrize("file, old, new, says", [
    ("docs/algorithms.md", r"<!--=sliding-window adversary trailing-->2\.00", "<!--=sliding-window adversary trailing-->1.99",
     "the text says 1.99, the simulation 2.00"),
    ("docs/algorithms.md", r"<!--=(headroom boundary passed)-->1\.40<!--/-->", "1.40", "1.40 stands outside of marks"),
    ("docs/algorithms.md", r"(<!--=fixed-window boundary) passed-->", r"\1 pased-->", "fixed-window boundary pased"),
    ("docs/algorithms.md", r"<!--=(sliding_window/5 even passed)-->0\.80", r"<!--=\1-->0.99",
     "sliding_window/5 even passed: the text says 0.99, the simulation 0.80"),
    ("docs/figures/boundary.svg", r">token-bucket: at most 1\.10", ">", "there is no title token-bucket"),
    ("docs/figures/boundary.svg", r"headroom: at most 1\.40", "headroom: at most 1.30", "boundary.svg"),
    ("docs/figures/rules/sliding-log.yaml", "600", "660", "the simulation 1.10"),
])
def test_documentation_that_says_something_else_is_told(tmp_path, file, old, new, says):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/figures.py", tmp_path / "scripts")
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert re.search(old, text)
    (tmp_path / file).write_text(re.sub(old, new, text, count=1), encoding="utf-8")
    done = figures(tmp_path, "--check")
    assert done.returncode == 1 and says in done.stdout, done.stdout + done.stderr
