# SPDX-License-Identifier: Apache-2.0
"""`weir check`: its output, its exit status, and files that nobody would write by hand. `weir example`."""
import os
import re
import subprocess

import pytest
import weirserver

GOOD = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: 5}}\n"
BOMB = ("domain: d\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{b}: &{b} [{', '.join(['*' + a] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi")))


@pytest.fixture
def check(tmp_path):
    """check(files, flag, …) -> (exit status, text)"""
    def run(files, *flags, names=None):
        for name, data in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        result = weirserver.run(weirserver.binary("weir"), "check", *flags, *(names or files), cwd=tmp_path, seconds=60)
        text = result.stdout + result.stderr
        return result.returncode, text
    return run


def test_good_file(check):
    status, text = check({"a.yaml": GOOD})
    assert status == 0
    assert "error:" not in text
    assert "1 file, 1 domain, 1 limit" in text


def test_a_store_needs_no_address_to_be_checked_for(check):
    files = {"a.yaml": GOOD.replace("unit: hour", "window: 5ms")}
    assert check(files)[0] == 0
    status, text = check(files, "--store", "redis")
    assert status == 1
    assert "`window: 5ms` is too short for Redis, which needs 10ms or more" in text
    assert "redis-url" not in text
    assert check({"a.yaml": GOOD}, "--store", "redis")[0] == 0


def test_all_errors_of_all_files_with_their_places(check):
    one = "domain: a\ndescriptors:\n  - {key: k, rate_limit: {unit: hours, requests_per_unit: 5}}\n  - {kee: m}\n"
    two = "domain: b\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: -1}}\n"
    status, text = check({"one.yaml": one, "two.yaml": two})
    assert status == 1
    places = re.findall(r"^(\w+\.yaml:\d+):\d+: error: ", text, re.M)
    assert {"one.yaml:3", "one.yaml:4", "two.yaml:3"} <= set(places)


def test_directory(check):
    files = {"rules/a.yaml": GOOD, "rules/.hidden.yaml": "domain: [", "rules/b.txt": "domain: ["}
    assert check(files, names=["rules"])[0] == 0
    status, text = check({"rules/c.yml": "domain: ["}, names=["rules"])
    assert status == 1
    assert re.search(r"^rules/c.yml:\d+:\d+: error: ", text, re.M)


def test_one_domain_in_two_files(check):
    files = {"a.yaml": GOOD, "b.yaml": GOOD.replace("key: k", "key: m")}
    status, text = check(files)
    assert status == 1
    assert "b.yaml:1:" in text
    assert check(files, "--merge-domain-config")[0] == 0


def test_a_warning_is_an_error_when_strict(check):
    files = {"a.yaml": GOOD.replace("{key: k,", "{key: k, unit: hour,")}
    status, text = check(files)
    assert (status, "warning:" in text) == (0, True)
    assert check(files, "--strict")[0] == 1


def test_a_doubt_between_files_is_told_and_refuses_none(check):
    files = {"a.yaml": "domain: d\ndescriptors:\n  - {key: k, value: '*'}\n",
             "b.yaml": "domain: d\ndescriptors:\n  - {key: k, value: 'x*'}\n"}
    assert check(files, "--merge-domain-config")[0] == 0
    status, text = check(files, "--merge-domain-config", "--strict")
    assert status == 1
    assert text.startswith("b.yaml:3:6: warning: this rule is never found")
    assert text.endswith("2 files, 1 domain, 0 limits: 0 errors, 1 warning, 0 files refused\n")
    files["b.yaml"] = files["a.yaml"]
    text = check(files, "--merge-domain-config")[1]
    assert "b.yaml:3:6: error: key `k` with value `*` is already defined" in text
    assert "warning:" not in text


def test_missing_file(check):
    status, text = check({}, names=["nowhere.yaml"])
    assert status != 0
    assert "nowhere.yaml" in text


@pytest.mark.parametrize("data", [
    b"", b"\n", b"\0", GOOD.encode() + b"\0", b"domain: a\0b\n", b"domain: \xff\xfe\xfd\n", b"\xef\xbb\xbf",
    b"domain: \xc3\x28\n", b"\xff\xfed\0", b"- " * 100000, b"[" * 100000, b"{a: " * 50000, b"&a [*a]\n", b"*nobody\n",
    b"domain: d\n" + b"#" * 1000000 + b"\n[", b"domain: " + b"x" * 10 + b"\n<<: *x\n", BOMB.encode(),
    b"%YAML 9.9\n---\ndomain: d\n", b"domain: !!binary x\ndescriptors: !!set {a}\n",
    b"domain: d\ndescriptors:\n" + b"  - descriptors:\n" * 2, b"? [a, b]\n: c\n",
], ids=range(21))
def test_odd_files_are_refused_in_words(check, data):
    status, text = check({"odd.yaml": data})
    assert status == 1
    assert "odd.yaml" in text


def test_deep_rules_are_bounded(check):
    def nested(depth):
        levels = "".join("  " * n + f"descriptors:\n{'  ' * n}- key: k{n}\n" for n in range(depth))
        return "domain: d\n" + levels + "  " * depth + "rate_limit: {unit: hour, requests_per_unit: 1}\n"
    assert check({"deep.yaml": nested(60)})[0] == 0
    status, text = check({"deep.yaml": nested(70)})
    assert status == 1
    assert "--max-rules-depth" in text
    assert check({"deep.yaml": nested(20)}, "--max-rules-depth", "10")[0] == 1


def test_big_files_are_bounded(check):
    big = GOOD + "".join(f"  - {{key: k, value: v{i}, rate_limit: {{unit: hour, requests_per_unit: 5}}}}\n" for i in range(20000))
    assert check({"big.yaml": big})[0] == 0
    for flag, bound in (("--max-rules-file-bytes", "100000"), ("--max-rules-nodes", "1000")):
        status, text = check({"big.yaml": big}, flag, bound)
        assert status == 1
        assert flag in text
    assert check({"huge.yaml": b"#" * (100 << 20)})[0] == 1


def test_two_limits_of_one_thing_are_led_to_the_list(check):
    status, text = check({"a.yaml": "domain: d\ndescriptors:\n"
                          "  - {key: user, rate_limit: {unit: minute, requests_per_unit: 60}}\n"
                          "  - {key: user, rate_limit: {unit: hour, requests_per_unit: 600}}\n"})
    assert status == 1
    assert ("a.yaml:4:6: error: key `user` with no value is already defined at a.yaml:3:6 (in d.user); several limits of "
            "one rule stand in a list, as in `limits: [{unit: minute, requests_per_unit: 60}, {unit: hour, "
            "requests_per_unit: 600}]`") in text


def test_the_store_says_how_short_a_window_may_be(check):
    rules = "domain: d\ndescriptors:\n  - {key: k, rate_limit: {window: 5ms, requests_per_unit: 5}}\n"
    assert check({"a.yaml": rules})[0] == 0
    status, text = check({"a.yaml": rules}, "--store", "redis", "--redis-url", "redis://127.0.0.1")
    assert status == 1
    assert "a.yaml:3:35: error: `window: 5ms` is too short for Redis, which needs 10ms or more" in text


# Names that a shell, JSON and weirctl each have a use of their own for.
QUOTED = """domain: "my 'own' \\"domain\\" $HOME"
descriptors:
  - {key: free}
  - {key: "-user id's", value: any}
  - key: "-user id's"
    descriptors:
      - {key: "a=b", value: "c,d=e\\\\f*", rate_limit: {unit: hour, requests_per_unit: 5}}
"""


def test_an_example_can_be_called_as_it_is_printed(launch, grpcurl):
    server = launch(QUOTED)
    result = weirserver.run(weirserver.binary("weir"), "example", server.rules)
    assert result.returncode == 0, result.stderr
    assert " 127.0.0.1:8081 " in result.stdout.splitlines()[0], result.stdout
    said = dict(line.replace("127.0.0.1:8081", server.address).split(" ", 1) for line in result.stdout.splitlines())
    words = said["weirctl"].removeprefix("check ")
    ctl = weirserver.run("bash", "-c", f"{weirserver.binary('weirctl')} check --target {server.address} {words}")
    assert ctl.returncode == 0, ctl.stderr
    assert "5/hour" in ctl.stdout.lower()
    curl = weirserver.run("bash", "-c", f"{grpcurl} {said['grpcurl']}")
    assert curl.returncode == 0, curl.stderr
    assert '"limitRemaining": 3' in curl.stdout


def greeting(tmp_path, address, rules):
    """The lines that ./dev run prints for a server there."""
    ports = tmp_path / "ports-of-run"
    ports.write_text(f"grpc {address}\n", encoding="utf-8")
    script = 'out=$1; . scripts/greet.sh; wait_and_greet $$ "$2" "$3"'
    out = os.path.dirname(os.path.dirname(weirserver.binary("weir")))
    result = weirserver.run("bash", "-euo", "pipefail", "-c", script, "run", out, str(ports), rules, cwd=weirserver.ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "unix:{}/so cket"])
def test_run_prints_calls_that_can_be_pasted(launch, tmp_path, grpcurl, listen):
    server = launch(QUOTED, listen=listen.format(tmp_path))
    said = greeting(tmp_path, server.address, server.rules)
    curl, ctl = (line.strip() for line in said.splitlines()[1:3])
    curl = re.sub(r"^\S*grpcurl", grpcurl, curl)
    ctl = ctl.replace("build/bin/weirctl", weirserver.binary("weirctl"))
    assert '"limitRemaining": 4' in weirserver.run("bash", "-c", curl).stdout, curl
    assert re.search(r" 5/hour +3 ", weirserver.run("bash", "-c", ctl).stdout), ctl


def test_run_says_that_there_is_nothing_to_try(launch, tmp_path):
    server = launch("domain: d\ndescriptors: [{key: k}]\n")
    assert "No rule there has a limit to try." in greeting(tmp_path, server.address, server.rules)


def test_run_takes_one_directory():
    result = weirserver.run(os.path.join(weirserver.ROOT, "dev"), "run", "deploy/examples/rules", "docs")
    assert result.returncode == 64
    assert "run takes one RULES_DIR, and docs is a second one" in result.stderr


def stdin_check(text, *names, cwd=None):
    result = subprocess.run([weirserver.binary("weir"), "check", *names], input=text, capture_output=True, text=True,
                            timeout=weirserver.PATIENCE_SECONDS, cwd=cwd, check=False)
    return result.returncode, result.stdout + result.stderr


def test_standard_input_is_checked_as_a_file(tmp_path):
    assert stdin_check(GOOD, "-") == (0, "1 file, 1 domain, 1 limit: all good\n")
    status, text = stdin_check(GOOD.replace("hour", "hours"), "-")
    assert status == 1
    assert text.startswith("-:3:33: error: `hours` is not a unit")
    (tmp_path / "a.yaml").write_text(GOOD)
    status, text = stdin_check(GOOD, "a.yaml", "-", cwd=tmp_path)
    assert status == 1
    assert "-:1:9: error: domain `d` has its rules already, at a.yaml:1:9" in text
    status, text = stdin_check(GOOD + "#" * 100, "--max-rules-file-bytes", "100", "-")
    assert status == 1
    assert text.startswith("-: error: larger than 100 bytes")


def test_standard_input_is_read_once():
    status, text = stdin_check(GOOD, "-", "-")
    assert status == 64
    assert "which can be read once" in text


def test_standard_input_that_is_closed_is_refused():
    result = subprocess.run(["sh", "-c", 'exec "$0" check - <&-', weirserver.binary("weir")], capture_output=True,
                            text=True, timeout=weirserver.PATIENCE_SECONDS, check=False)
    assert result.returncode == 1
    assert result.stdout.startswith("-: error: standard input is closed, or nothing to read from")


def test_a_pipe_by_its_name_is_refused_with_the_way_to_read_it():
    status, text = stdin_check(GOOD, "/dev/stdin")
    assert status == 1
    assert "/dev/stdin: error: is not a regular file; `weir check -` reads standard input" in text


def test_what_acts_on_a_terminal_is_shown_as_question_marks(check):
    status, text = check({"a\u009b.yaml": "domain: d\ndescriptors:\n  - {key: k, \u202eunit: 1}\n"})
    assert status == 1
    assert "a?.yaml:3:14: error: unknown key `?unit`" in text


def test_stop_increment_draws_a_warning_that_refuses_nothing(check):
    files = {"a.yaml": GOOD.replace("key: k,", "key: k, shadow_mode: true,")}
    assert check(files) == (0, "1 file, 1 domain, 1 limit: all good\n")
    status, text = check(files, "--strict", "--stop-increment-when-over-limit")
    assert status == 0
    assert text.startswith("a.yaml:3:6: warning: with --stop-increment-when-over-limit a limit under `shadow_mode`")
    assert "0 errors, 1 warning, 0 files refused" in text


def test_keys_without_a_common_slot_draw_a_warning_that_refuses_nothing(check):
    files = {"a.yaml": "count: all_or_nothing\n" + GOOD}
    flags = "--strict", "--store", "redis", "--redis-type", "cluster"
    assert check(files, *flags)[1] == "1 file, 1 domain, 1 limit: all good\n"
    status, text = check(files, *flags, "--redis-keys", "reference")
    assert status == 0
    assert text.startswith("a.yaml:4:6: warning: with --redis-keys reference in a cluster `all_or_nothing`")
    assert "0 errors, 1 warning, 0 files refused" in text
