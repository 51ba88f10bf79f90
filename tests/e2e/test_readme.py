# SPDX-License-Identifier: Apache-2.0
"""The commands of the README, against a server with the shipped examples."""
import os
import pathlib
import re
import shlex

import pytest
import weirserver

EXAMPLES = pathlib.Path(weirserver.ROOT, "deploy", "examples", "rules")
DEFAULT_ADDRESS = "127.0.0.1:8081"
# What a command says, by words that it alone has.
SAID = {" list": "envoy.service.ratelimit.v3.RateLimitService", "/ShouldRateLimit": '"overallCode": "OK"',
        "weirctl check": "OK\n", "weir check": "all good", "fixed-window.yaml --load boundary": "2.00",
        "sliding-log.yaml --load adversary": "1.00", "edge.yaml --descriptor": "user=ann: 100 in 1m by fixed_window"}


def commands():
    """The lines of the shell blocks that call a server or check rules, as words."""
    with open(os.path.join(weirserver.ROOT, "README.md"), encoding="utf-8") as f:
        shell = "".join(re.findall(r"^```sh\n(.*?)^```", f.read(), re.M | re.S)).replace("\\\n", " ")
    lines = [shlex.split(line, comments=True) for line in shell.splitlines()]
    return [words for words in lines if words and words[0] in ("grpcurl", "build/bin/weirctl", "build/bin/weir")
            and "--watch" not in words]


def test_commands_were_found():
    assert {words[0] for words in commands()} == {"grpcurl", "build/bin/weirctl", "build/bin/weir"}


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_command(launch, grpcurl, words):
    server = launch({p.name: p.read_text(encoding="utf-8") for p in EXAMPLES.iterdir()})
    program, *rest = [w.replace(DEFAULT_ADDRESS, server.address) for w in words]
    program = grpcurl if program == "grpcurl" else weirserver.binary(os.path.basename(program))
    if program.endswith("weirctl"):
        rest += ["--target", server.address]
    result = weirserver.run(program, *rest, cwd=weirserver.ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    expected, = (text for words_in, text in SAID.items() if words_in in " ".join(words))
    assert expected in result.stdout
