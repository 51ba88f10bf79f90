# SPDX-License-Identifier: Apache-2.0
"""Rules that change while the server runs, beyond what the replayed scenarios show."""
import itertools
import os
import shutil
import signal
import time

import oraclelib
import pytest
import weirserver
from weirserver import eventually, replace, same, wait_until

PAIR = ["k", "v"]
# A file that is written in place is left alone for a second after its last change.
UNSETTLED_SECONDS = 0.9


def rule(domain, limit, extra=""):
    return (f"domain: {domain}\n{extra}descriptors:\n"
            f"  - {{key: k, rate_limit: {{unit: hour, requests_per_unit: {limit}}}}}\n")


def await_limit(caller, domain, limit, used=0):
    eventually(f"OK: OK {limit - used} of {limit}/HOUR", lambda: caller.peek(domain, PAIR))


@pytest.mark.parametrize("bad, good", [("a", "b"), ("z", "b")])
def test_a_bad_file_keeps_its_own_last_good_version(launch, bad, good):
    server = launch({f"{bad}.yaml": rule(bad, 2), f"{good}.yaml": rule(good, 2)})
    caller = server.caller()
    same("OK: OK 1 of 2/HOUR", caller.call(bad, [PAIR]))
    same("OK: OK 1 of 2/HOUR", caller.call(good, [PAIR]))
    replace(server.rules, f"{bad}.yaml", rule(bad, 3) + "  - key: k\n")
    replace(server.rules, f"{good}.yaml", rule(good, 5))
    await_limit(caller, good, 5, used=1)
    same("OK: OK 0 of 2/HOUR", caller.call(bad, [PAIR]))
    same("OVER: OVER 0 of 2/HOUR", caller.call(bad, [PAIR]))
    place = f"{server.rules}/{bad}.yaml:4:5: "
    assert server.log().count(place) == 1
    replace(server.rules, f"{good}.yaml", rule(good, 6))
    await_limit(caller, good, 6, used=1)
    assert server.log().count(place) == 1
    replace(server.rules, f"{bad}.yaml", rule(bad, 4))
    await_limit(caller, bad, 4, used=3)


def test_a_doubt_between_files_refuses_none_also_when_strict(launch):
    """The same files give the same rules, whether they come one by one or are there at the start."""
    def pattern(value, limit):
        return f"domain: d\ndescriptors:\n  - {{key: {value}, rate_limit: {{unit: hour, requests_per_unit: {limit}}}}}\n"
    files = {"a.yaml": pattern("k, value: '*'", 5), "b.yaml": pattern("k, value: 'x*'", 6) + pattern("m", 7).split("\n")[2] + "\n"}
    flags = ["--strict", "--merge-domain-config"]
    server = launch({"a.yaml": files["a.yaml"]}, *flags)
    caller = server.caller()
    replace(server.rules, "b.yaml", files["b.yaml"])
    eventually("OK: OK 7 of 7/HOUR", lambda: caller.peek("d", ["m", "v"]))
    anew = launch(files, *flags)
    for one in (server, anew):
        same("OK: OK 5 of 5/HOUR", one.caller().peek("d", ["k", "xa"]))
        same("OK: OK 7 of 7/HOUR", one.caller().peek("d", ["m", "v"]))
        assert one.log().count(f"{one.rules}/b.yaml:3:6: this rule is never found") == 1
    replace(server.rules, "a.yaml", pattern("k, value: '*'", 8))
    eventually("OK: OK 8 of 8/HOUR", lambda: caller.peek("d", ["k", "xa"]))


def test_a_bad_file_at_the_start_holds_back_no_other(launch):
    server = launch({"a.yaml": "domain: [\n", "b.yaml": rule("b", 5)})
    same("OK: OK 4 of 5/HOUR", server.caller().call("b", [PAIR]))


def test_without_a_good_file_calls_wait_for_one(launch):
    server = launch({"r.yaml": "domain: d\ndescriptors: 5\n"})
    caller = server.caller()
    assert caller.call("d", [PAIR]) == {"error": "UNAVAILABLE"}
    assert caller.call("other", [PAIR]) == {"error": "UNAVAILABLE"}
    replace(server.rules, "r.yaml", rule("d", 5))
    await_limit(caller, "d", 5)


def one_by_one(blocks, path, old, peek, n_peeks):
    """Writes the blocks and looks between them, where the old rules have to be in force. False when a busy machine held it
    up for so long that the file was rightly taken for whole."""
    with open(path, "w", encoding="utf-8") as f:
        changed = time.monotonic()
        for i, block in enumerate(blocks):
            for _ in range(n_peeks if i > 0 else 0):
                reply = peek()
                if time.monotonic() - changed > UNSETTLED_SECONDS:
                    return False
                same(f"OK: OK {old} of {old}/HOUR", reply)
            f.write(block)
            f.flush()
            if time.monotonic() - changed > UNSETTLED_SECONDS:
                return False
            changed = time.monotonic()
    return True


def is_taken_whole(server, caller, key, blocks, limit, n_peeks, begin=lambda: None):
    """Writes r.yaml with rules of another limit, after `begin`. False when a busy machine held it up."""
    def peek():
        return caller.peek("d", [key, "v"])

    loads = server.loads()
    begin()
    in_time = one_by_one(blocks, os.path.join(server.rules, "r.yaml"), limit - 1, peek, n_peeks)
    if not in_time:
        replace(server.rules, "r.yaml", "".join(blocks))
    eventually(f"OK: OK {limit} of {limit}/HOUR", peek)
    assert not in_time or server.loads() == loads + 1
    return in_time


def test_a_half_written_file_is_never_taken(launch):
    """Rules are written in twenty blocks, behind any of which the file is good YAML, and calls go on between them."""
    def blocks(limit):
        made = ["  - {key: k%d, rate_limit: {unit: hour, requests_per_unit: %d}}\n" % (i, limit) for i in range(20)]
        return ["domain: d\ndescriptors:\n" + made[0], *made[1:]]

    server = launch({"r.yaml": "".join(blocks(5))})
    caller, limits = server.caller(), itertools.count(6)

    def is_written_in_time():
        limit = next(limits)
        return is_taken_whole(server, caller, "k19", blocks(limit), limit, 10)

    wait_until(is_written_in_time, "a machine that is not too busy to write 20 lines")


@pytest.mark.parametrize("backup", ["r.yaml~", "../r.yaml", None])
def test_a_file_that_is_written_anew_is_never_taken_by_half(launch, backup):
    """What was there is renamed, moved elsewhere or removed first."""
    def blocks(limit):
        return ["domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: hour, requests_per_unit: %d}}\n" % limit,
                "  - {key: last, rate_limit: {unit: hour, requests_per_unit: %d}}\n" % limit]

    server = launch({"r.yaml": "".join(blocks(5))})
    caller, path, limits = server.caller(), os.path.join(server.rules, "r.yaml"), itertools.count(6)

    def put_away():
        if backup is None:
            os.unlink(path)
        else:
            os.rename(path, os.path.join(server.rules, backup))

    def is_written_in_time():
        limit = next(limits)
        return is_taken_whole(server, caller, "last", blocks(limit), limit, 40, put_away)

    wait_until(is_written_in_time, "a machine that is not too busy to write two blocks")


def test_a_file_refused_because_of_one_that_is_out_comes_in(launch):
    def pairs(*keys, limit):
        return "domain: d\ndescriptors:\n" + "".join(
            f"  - {{key: {key}, rate_limit: {{unit: hour, requests_per_unit: {limit}}}}}\n" for key in keys)

    server = launch({"m.yaml": pairs("k", limit=1)}, "--merge-domain-config")
    caller = server.caller()
    replace(server.rules, "a.yaml", pairs("k", "l", limit=2))
    replace(server.rules, "b.yaml", pairs("l", "n", limit=3))
    eventually("OK: OK 3 of 3/HOUR", lambda: caller.peek("d", ["l", "v"]))
    same("OK: OK 1 of 1/HOUR", caller.peek("d", ["k", "v"]))
    assert f"{server.rules}/a.yaml:3:6: " in server.log()
    assert f"{server.rules}/b.yaml:" not in server.log().replace("b.yaml:3:6 ", "")


def test_hangups_are_a_line_a_second_at_most(launch):
    server = launch({"r.yaml": rule("d", 5)})
    begin = time.monotonic()
    for _ in range(500):
        server.process.send_signal(signal.SIGHUP)
    replace(server.rules, "r.yaml", rule("d", 6))
    await_limit(server.caller(), "d", 6)
    assert 1 <= server.log().count("SIGHUP") <= time.monotonic() - begin + 2


def test_a_configmap_of_many_files_is_loaded_once_a_version(launch):
    files = {f"f{i}.yaml": rule(f"d{i}", 1000000) for i in range(200)}
    server = launch({})
    weirserver.swap_configmap(server.rules, "..v1", files)
    caller = server.caller()
    await_limit(caller, "d199", 1000000)
    loads = server.loads()
    changed = dict(files, **{"f0.yaml": rule("d0", 7)})
    weirserver.swap_configmap(server.rules, "..v2", changed)
    end = time.monotonic() + weirserver.PATIENCE_SECONDS
    while oraclelib.differences("OK: OK 7 of 7/HOUR", caller.peek("d0", PAIR)):
        same("OK: OK 1000000 of 1000000/HOUR", caller.peek("d1", PAIR))
        assert time.monotonic() < end
    weirserver.swap_configmap(server.rules, "..v3", changed)
    replace(server.rules, "last.yaml", rule("last", 5))
    await_limit(caller, "last", 5)
    assert server.loads() == loads + 2    # ..v2, and last.yaml; ..v3 says the same as ..v2
    assert " error: " not in server.log()


def test_a_directory_that_is_gone_takes_no_rules_away(launch):
    server = launch({"r.yaml": rule("d", 5)}, "--rules-poll-interval", "50ms")
    caller = server.caller()
    shutil.rmtree(server.rules)
    wait_until(lambda: "stay in force" in server.log(), "a line about the directory")
    same("OK: OK 4 of 5/HOUR", caller.call("d", [PAIR]))
    weirserver.write_rules(server.rules, {"r.yaml": rule("d", 6)})
    await_limit(caller, "d", 6, used=1)


@pytest.mark.parametrize("put", [
    os.mkdir, lambda path: os.symlink("..", path), lambda path: os.symlink("/dev/null", path),
], ids=["directory", "link to a directory", "link to a device"])
def test_what_is_no_file_in_the_place_of_one_takes_no_rules_away(launch, put):
    server = launch({"a.yaml": rule("d", 5), "b.yaml": rule("e", 5)}, "--rules-poll-interval", "50ms")
    path = os.path.join(server.rules, "a.yaml")
    os.unlink(path)
    put(path)
    wait_until(lambda: f"{path}: is not a regular file" in server.log(), "a line about it")
    same("OK: OK 4 of 5/HOUR", server.caller().call("d", [PAIR]))
    replace(server.rules, "b.yaml", rule("e", 6))
    await_limit(server.caller(), "e", 6)
    same("OK: OK 3 of 5/HOUR", server.caller().call("d", [PAIR]))


def test_a_hangup_has_the_files_looked_at(launch):
    server = launch({"r.yaml": rule("d", 5)})
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "SIGHUP" in server.log(), "a line about the signal")
    replace(server.rules, "r.yaml", rule("d", 6))
    server.process.send_signal(signal.SIGHUP)
    await_limit(server.caller(), "d", 6)


def test_a_linked_runtime_root_that_comes_late_and_is_turned(launch, tmp_path):
    root = tmp_path / "current"
    env = {"RUNTIME_ROOT": root, "RUNTIME_SUBDIRECTORY": "limits", "RUNTIME_WATCH_ROOT": "true",
           "RUNTIME_IGNOREDOTFILES": "true"}
    server = launch({}, "--grpc-listen", "127.0.0.1:0", env=env, by_flags=False)
    caller = server.caller()
    assert caller.call("d", [PAIR]) == {"error": "UNAVAILABLE"}
    for version, limit in (("v1", 5), ("v2", 6)):
        weirserver.write_rules(tmp_path / version / "limits" / "config", {"deep/r": rule("d", limit)})
        os.symlink(version, tmp_path / "next")
        os.rename(tmp_path / "next", root)
        await_limit(caller, "d", limit)


@pytest.mark.parametrize("watched, limited", [("true", True), ("false", False)])
def test_what_is_named_beside_the_app_directory_is_read_with_a_watched_root(launch, tmp_path, watched, limited):
    limits = tmp_path / "root" / "limits"
    weirserver.write_rules(limits / "config", {"basic.yaml": rule("d", 5)})
    weirserver.write_rules(limits, {"config.more.yaml": rule("e", 6), "configured.yaml": rule("f", 7)})
    env = {"RUNTIME_ROOT": tmp_path / "root", "RUNTIME_SUBDIRECTORY": "limits", "RUNTIME_WATCH_ROOT": watched}
    caller = launch({}, "--grpc-listen", "127.0.0.1:0", env=env, by_flags=False).caller()
    same("OK: OK 4 of 5/HOUR", caller.call("d", [PAIR]))
    same("OK: OK 5 of 6/HOUR" if limited else "OK: bare", caller.call("e", [PAIR]))
    same("OK: bare", caller.call("f", [PAIR]))


def test_one_file_named_by_itself_is_followed(launch, tmp_path):
    weirserver.write_rules(tmp_path / "one", {"r": rule("d", 5)})
    server = launch({}, "--rules", str(tmp_path / "one" / "r"), "--grpc-listen", "127.0.0.1:0", by_flags=False)
    caller = server.caller()
    await_limit(caller, "d", 5)
    replace(tmp_path / "one", "r", rule("d", 6))
    await_limit(caller, "d", 6)
