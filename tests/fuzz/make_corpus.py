# SPDX-License-Identifier: Apache-2.0
"""make_corpus.py SEEDS FOLDER: one file a line of hexadecimal; spaces and '#' lines are left out."""
import os
import sys


def main(seeds, folder):
    os.makedirs(folder, exist_ok=True)
    with open(seeds, encoding="ascii") as f:
        lines = [line.partition("#")[0].strip() for line in f]
    lines = [line for line in lines if line]
    if not lines:
        sys.exit(f"{seeds}: no inputs")
    for number, line in enumerate(lines):
        with open(os.path.join(folder, f"seed{number:03}"), "wb") as f:
            f.write(bytes.fromhex(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
