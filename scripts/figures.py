# SPDX-License-Identifier: Apache-2.0
"""Draws the figure of docs/algorithms.md and writes the numbers in its text, all from `weir simulate`.

A number that comes from a simulation stands between <!--=RULE LOAD WHAT--> and <!--/-->: RULE is a file of
docs/figures/rules, LOAD boundary or adversary, WHAT one of passed, trailing and moment: what was let through, and the
most of it in any trailing minute and in any hundredth of one, as multiples of the limit. The picture has the rules
whose boundary the text tells, in that order.

With the LOAD even, RULE is ALGORITHM/LIMIT or ALGORITHM:BUCKETS/LIMIT, and passed the share that is let through of a
caller who sends that limit an hour, evenly.

With --check nothing is written: exits with 1 when the text says something else than the simulation, when a multiple
stands in it without such marks, or when the picture was drawn with other numbers."""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = ROOT / "docs/algorithms.md"
RULES = ROOT / "docs/figures/rules"
PICTURE = ROOT / "docs/figures/boundary.svg"
AGAINST, LIMIT = "600/m", 600
LOADS = {"boundary": "boundary,hits=600", "adversary": "adversary,for=4m"}
# A multiple of a limit, as this page writes them.
NUMBER = re.compile(r"\b\d+\.\d\d\b")
EVEN = re.compile(r"(\w+)(?::(\d+))?/(\d+)")
EVEN_HOURS = 200
MARK = re.compile(r"<!--=(\S+) (\S+) (\w+)-->(.*?)<!--/-->")


def simulate(weir: Path, names: list[str], load: str, *words: str) -> dict[str, dict[str, float]]:
    rules = [word for name in names for word in ("--rule", str(RULES / f"{name}.yaml"))]
    out = subprocess.run([str(weir), "simulate", *rules, "--load", LOADS[load], "--against", AGAINST, "--json", *words],
                         capture_output=True, text=True, check=True).stdout
    return {row["rule"]: {"passed": row["admitted"] / LIMIT, "trailing": row["trailing_window"]["ratio"],
                          "moment": row["moment"]["ratio"]} for row in json.loads(out)}


def simulate_evenly(weir: Path, name: str) -> dict[str, float]:
    algorithm, buckets, limit = EVEN.fullmatch(name).groups()
    with tempfile.TemporaryDirectory() as folder:
        rule = Path(folder) / "rule.yaml"
        rule.write_text(f"domain: d\ndescriptors: [{{key: k, rate_limit: {{unit: hour, requests_per_unit: {limit}, "
                        f"algorithm: {algorithm}{f', buckets: {buckets}' if buckets else ''}}}}}]\n", encoding="utf-8")
        out = subprocess.run([str(weir), "simulate", "--rule", str(rule), "--json", "--load",
                              f"steady,rate={limit}/h,for={EVEN_HOURS}h"], capture_output=True, text=True, check=True).stdout
    row, = json.loads(out)
    return {"passed": row["admitted"] / (row["admitted"] + row["refused"])}


def drawn(text: str) -> list[str]:
    """The rules of the picture, from above."""
    return list(dict.fromkeys(mark[1] for mark in MARK.finditer(text) if mark[2] == "boundary"))


def check_text(text: str, found: dict[str, dict[str, dict[str, float]]]) -> tuple[str, int, list[str]]:
    """The text as it ought to be, how many numbers are marked in it, and what is wrong with it now."""
    wrong: list[str] = []

    def written(mark: re.Match[str]) -> str:
        rule, load, what, said = mark.groups()
        value = found.get(load, {}).get(rule, {}).get(what)
        if value is None:
            wrong.append(f"{rule} {load} {what}: nothing of that name is simulated")
            return mark[0]
        if said != f"{value:.2f}":
            wrong.append(f"{rule} {load} {what}: the text says {said or 'nothing'}, the simulation {value:.2f}")
        return f"<!--={rule} {load} {what}-->{value:.2f}<!--/-->"

    new, n_marks = MARK.subn(written, text)
    wrong += [f"{number} stands outside of marks" for number in NUMBER.findall(MARK.sub("", text))]
    return new, n_marks, wrong


def check_picture(names: list[str], found: dict[str, dict[str, float]]) -> list[str]:
    """Its titles have the numbers that they were drawn with."""
    picture = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
    titles = [f"{name}: at most {found[name]['trailing']:.2f} × {LIMIT} in any 1m" for name in names if name in found]
    return [f"{PICTURE.relative_to(ROOT)}: there is no title {title}" for title in titles
            if f"<text>{title}</text>" not in picture]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weir", type=Path, default=ROOT / "build/bin/weir")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    names = sorted(path.stem for path in RULES.glob("*.yaml"))
    found = {load: simulate(args.weir, names, load) for load in LOADS}
    text = TEXT.read_text(encoding="utf-8")
    found["even"] = {mark[1]: simulate_evenly(args.weir, mark[1]) for mark in MARK.finditer(text)
                     if mark[2] == "even" and EVEN.fullmatch(mark[1])}
    new, n_marks, wrong = check_text(text, found)
    if n_marks == 0:
        print(f"{TEXT}: no number of a simulation in it")
        return 1
    if args.check:
        wrong += check_picture(drawn(text), found["adversary"])
        print("\n".join(wrong) or f"{n_marks} numbers agree")
        return 1 if wrong else 0
    TEXT.write_text(new, encoding="utf-8")
    simulate(args.weir, drawn(text), "adversary", "--plot", str(PICTURE))
    print("\n".join([f"was: {one}" for one in wrong] +
                    [f"{n_marks} numbers in {TEXT.relative_to(ROOT)}; {PICTURE.relative_to(ROOT)} drawn"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
