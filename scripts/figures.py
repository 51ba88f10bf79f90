# SPDX-License-Identifier: Apache-2.0
"""Draws the figure of docs/algorithms.md and writes the numbers in its text, all from `weir simulate`.

A number that comes from a simulation stands between <!--=RULE LOAD WHAT--> and <!--/-->: RULE is a file of
docs/figures/rules, LOAD boundary or adversary, WHAT one of passed, trailing and moment: what was let through, and the
most of it in any trailing minute and in any hundredth of one, as multiples of the limit.

With --check nothing is written: exits with 1 when the text says something else than the simulation, when a multiple
stands in it without such marks, or when the picture was drawn with other numbers."""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = ROOT / "docs/algorithms.md"
RULES = ROOT / "docs/figures/rules"
PICTURE = ROOT / "docs/figures/boundary.svg"
# From above in the picture.
DRAWN = ["fixed-window", "small-windows", "headroom", "window-and-token-bucket", "sliding-window", "sliding-buckets",
         "sliding-log"]
AGAINST, LIMIT = "600/m", 600
LOADS = {"boundary": "boundary,hits=600", "adversary": "adversary,for=4m"}
# A multiple of a limit, as this page writes them.
NUMBER = re.compile(r"\b\d+\.\d\d\b")
MARK = re.compile(r"<!--=(\S+) (\S+) (\w+)-->(.*?)<!--/-->")


def simulate(weir: Path, names: list[str], load: str, *words: str) -> dict[str, dict[str, float]]:
    rules = [word for name in names for word in ("--rule", str(RULES / f"{name}.yaml"))]
    out = subprocess.run([str(weir), "simulate", *rules, "--load", LOADS[load], "--against", AGAINST, "--json", *words],
                         capture_output=True, text=True, check=True).stdout
    return {row["rule"]: {"passed": row["admitted"] / LIMIT, "trailing": row["trailing_window"]["ratio"],
                          "moment": row["moment"]["ratio"]} for row in json.loads(out)}


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


def check_picture(found: dict[str, dict[str, float]]) -> list[str]:
    """Its titles have the numbers that they were drawn with."""
    picture = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
    titles = [f"{name}: at most {found[name]['trailing']:.2f} × {LIMIT} in any 1m" for name in DRAWN]
    return [f"{PICTURE.relative_to(ROOT)}: there is no title {title}" for title in titles if title not in picture]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weir", type=Path, default=ROOT / "build/bin/weir")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    names = sorted(path.stem for path in RULES.glob("*.yaml"))
    found = {load: simulate(args.weir, names, load) for load in LOADS}
    new, n_marks, wrong = check_text(TEXT.read_text(encoding="utf-8"), found)
    if n_marks == 0:
        print(f"{TEXT}: no number of a simulation in it")
        return 1
    if args.check:
        wrong += check_picture(found["adversary"])
        print("\n".join(wrong) or f"{n_marks} numbers agree")
        return 1 if wrong else 0
    TEXT.write_text(new, encoding="utf-8")
    simulate(args.weir, DRAWN, "adversary", "--plot", str(PICTURE))
    print("\n".join([f"was: {one}" for one in wrong] +
                    [f"{n_marks} numbers in {TEXT.relative_to(ROOT)}; {PICTURE.relative_to(ROOT)} drawn"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
