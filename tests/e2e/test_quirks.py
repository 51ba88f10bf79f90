# SPDX-License-Identifier: Apache-2.0
"""What Weir does in each recorded scenario that is marked a quirk of the reference.

Every such scenario is in DONE_BY, with the test that runs its rule files here, or in LATER, with
what it needs that this server does not have yet.
"""
import os

import oraclelib
import pytest
import weirserver
from weirserver import same

SCENARIOS = os.path.join(weirserver.ROOT, "tests", "vectors", "scenarios")
QUIRKS = {s["id"]: s for _, _, items in oraclelib.load_scenarios(SCENARIOS) for s in items if s.get("quirk")}

LATER = {
    "health-default-bad-file": "HTTP health check",
    "json-override-bad-unit-dropped-connection": "HTTP /json",
    "local-raised-limit-unseen": "over-limit cache",
    "local-override-poisons-rule": "over-limit cache",
}
DONE_BY = {}


def weir_does(*ids):
    """Marks a test as the answer to these scenarios; it runs once for each."""
    def mark(test):
        DONE_BY.update({i: test.__name__ for i in ids})
        return pytest.mark.parametrize("quirk", ids)(test)
    return mark


@pytest.fixture
def files(quirk):
    return QUIRKS[quirk]["files"]


@pytest.fixture
def serve(launch, quirk, files):
    """A server with the files and settings of the scenario -> its connection."""
    return lambda: launch(files, env=QUIRKS[quirk].get("settings")).caller()


@pytest.fixture
def check(files, tmp_path):
    """`weir check` on the files of the scenario -> (exit status, text)."""
    def run(*flags):
        weirserver.write_rules(tmp_path, files)
        result = weirserver.run(weirserver.binary("weir"), "check", *flags, *sorted(files), cwd=tmp_path)
        return result.returncode, result.stdout + result.stderr
    return run


def replay(caller, quirk):
    """The scenario's calls, sent one after another -> [(what the reference said, what Weir says)]."""
    out = []
    for _, step in oraclelib.unrolled(QUIRKS[quirk]["steps"]):
        call = step["call"]
        replies = [caller.call(call["domain"], *call["desc"], hits=call.get("hits", 0))
                   for _ in range(call.get("repeat", 1))]
        out.append((step["expect"], replies[-1]))
    return out


def expect(caller, quirk, *wanted):
    got = replay(caller, quirk)
    assert len(got) == len(wanted)
    for want, (reference, reply) in zip(wanted, got):
        same(want, reply)
    assert any(oraclelib.differences(reference, reply) for reference, reply in got), "no difference to the reference"


def test_every_quirk_is_spoken_for():
    assert QUIRKS
    assert set(DONE_BY) | set(LATER) == set(QUIRKS)
    assert not set(DONE_BY) & set(LATER)


# Joined keys do not collide

@weir_does("bad-duplicate-joined-text")
def test_joined_keys_are_no_duplicates(tmp_path, quirk):
    refused = next(step["put"] for step in QUIRKS[quirk]["steps"] if step.get("expect") == "refused" and "put" in step)
    weirserver.write_rules(tmp_path, refused)
    result = weirserver.run(weirserver.binary("weir"), "check", *refused, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@weir_does("domains-underscore-shared-counter")
def test_domains_do_not_share_counters(serve, quirk):
    expect(serve(), quirk, "OK: OK 4 of 5/HOUR", "OK: OK 4 of 5/HOUR", "OK: OK 3 of 5/HOUR")


@weir_does("match-underscore-levels-shared-counter")
def test_levels_do_not_share_counters(serve, quirk):
    expect(serve(), quirk, "OK: OK 9 of 10/HOUR", "OK: OK 9 of 10/HOUR", "OK: OK 8 of 10/HOUR")


@weir_does("match-underscore-key-reached-by-pair")
def test_pair_does_not_reach_joined_key(serve, quirk):
    expect(serve(), quirk, "OK: bare", "OK: OK 3 of 4/HOUR", "OK: OK 3 of 4/HOUR", "OK: bare")


@weir_does("share-pattern-text-as-value")
def test_pattern_text_is_a_value_like_others(serve, quirk):
    """It matches the pattern, so it shares; where no pattern shares, it is not the shared counter."""
    caller = serve()
    for want, (_, reply) in zip(("OK: OK 3 of 4/HOUR", "OK: OK 2 of 4/HOUR", "OK: OK 1 of 4/HOUR"), replay(caller, quirk)):
        same(want, reply)
    same("OK: OK 3 of 4/HOUR", caller.call(quirk, {"entries": [["dir", "docs/*"]], "limit": [4, "HOUR"]}))


# A star in a key is matched against the key alone

@weir_does("match-wildcard-in-key")
def test_star_in_key_takes_any_value(launch, quirk):
    caller = launch(QUIRKS[quirk]["files"]).caller()
    for pair, want in ((["tenant", "acme"], "OK: OK 5 of 6/HOUR"), (["ten", ""], "OK: OK 5 of 6/HOUR"),
                       (["te", "n"], "OK: bare"), (["t", "en"], "OK: bare"), (["te", "nant"], "OK: bare")):
        same(want, caller.call(quirk, [pair]))


@weir_does("match-wildcard-across-joint")
def test_star_in_key_does_not_reach_the_value(serve, quirk):
    expect(serve(), quirk, "OK: bare", "OK: bare", "OK: OK 5 of 6/HOUR", "OK: OK 5 of 6/HOUR")


# Files

@weir_does("good-repeated-key-last-wins", "good-integer-spellings", "unlimited-with-garbage-unit")
def test_loads_with_a_warning(serve, check, quirk):
    for reference, reply in replay(serve(), quirk):
        same(reference, reply)
    status, text = check()
    assert status == 0
    assert "warning" in text
    assert check("--strict")[0] == 1


@weir_does("good-second-document-ignored", "good-second-document-broken")
def test_second_document_is_refused(check, quirk):
    status, text = check()
    assert status == 1
    assert "f.yaml:4:" in text


@weir_does("good-utf-16")
def test_utf_16_is_read(serve, quirk):
    for reference, reply in replay(serve(), quirk):
        same(reference, reply)


@weir_does("reload-dotfile-read")
def test_dot_files_are_ignored(serve, quirk):
    expect(serve(), quirk, "OK: bare")


@weir_does("reload-bad-freezes-others")
def test_a_bad_file_holds_back_no_other(launch, quirk, files):
    server = launch(files)
    caller = server.caller()
    puts = [step["put"] for step in QUIRKS[quirk]["steps"] if "put" in step]
    weirserver.replace(server.rules, "r.yaml", puts[0]["r.yaml"])
    weirserver.replace(server.rules, "s.yaml", puts[1]["s.yaml"])
    weirserver.eventually("OK: OK 50 of 50/HOUR", lambda: caller.peek(quirk + "-s", ["a", "1"]))
    same("OK: OK 4 of 5/HOUR", caller.call(quirk, [["a", "1"]]))
    weirserver.replace(server.rules, "r.yaml", puts[2]["r.yaml"])
    weirserver.eventually("OK: OK 6 of 7/HOUR", lambda: caller.peek(quirk, ["a", "1"]))


@weir_does("reload-configmap-dotfiles-read")
def test_a_configmap_is_read_once(launch, quirk, files):
    server = launch(files)
    caller = server.caller()
    put = next(step["configmap"] for step in QUIRKS[quirk]["steps"] if "configmap" in step)
    weirserver.swap_configmap(server.rules, "..v1", put)
    weirserver.eventually("OK: OK 5 of 5/HOUR", lambda: caller.peek(quirk, ["a", "1"]))
    same("OK: OK 4 of 5/HOUR", caller.call(quirk + "-z", [["a", "1"]]))
    assert " error: " not in server.log()


@weir_does("reload-subdirectory-at-start")
def test_subdirectories_are_not_read(serve, quirk):
    expect(serve(), quirk, "OK: bare", "OK: OK 4 of 5/HOUR")


# Hits and overrides

@weir_does("hits-above-int64-negative")
def test_huge_hits_saturate(serve, quirk):
    over = "OVER: OVER 0 of 10/HOUR"
    expect(serve(), quirk, "OK: OK 9 of 10/HOUR", over, over, over, "OK: OK 8 of 10/HOUR")


@weir_does("hits-wrap-leaves-over")
def test_huge_hits_never_give_back(serve, quirk):
    over = "OVER: OVER 0 of 10/HOUR"
    expect(serve(), quirk, over, over, over)


@weir_does("override-unit-number-seven")
def test_seven_is_a_week_as_there(serve, quirk):
    [(reference, last)] = replay(serve(), quirk)
    same(reference[-1], last)


@weir_does("hits-counter-overflow")
def test_full_counter_stays_over(serve, quirk):
    over = "OVER: OVER 0 of 10/HOUR"
    expect(serve(), quirk, over, over, over)


@weir_does("override-empty-message", "override-unit-undefined-number")
def test_bad_override_is_an_invalid_argument(serve, quirk):
    caller = serve()
    got = replay(caller, quirk)
    assert got[-1][1] == {"error": "INVALID_ARGUMENT"}
    want = len(got) - 1
    same(f"OK: OK {5 - want} of 5/HOUR?", caller.call(quirk, {"entries": [["k", "a"]], "hits": 0}))


@weir_does("wire-negative-hits-ignored")
def test_negative_hits_give_back(serve, quirk):
    caller = serve()
    replies = [caller.raw(bytes.fromhex(step["raw"]["hex"])) for step in QUIRKS[quirk]["steps"]]
    for want, reply in zip(("OK: OK 90 of 100/HOUR", "OK: OK 95 of 100/HOUR", "OK: OK 95 of 100/HOUR"), replies):
        same(want, reply)


# Headers and metadata

@weir_does("headers-max-limit-look")
def test_full_remaining_can_be_chosen_for_headers(serve, quirk):
    (_, first), (_, second) = replay(serve(), quirk)
    assert first["headers"][:2] == [["RateLimit-Limit", "4294967295"], ["RateLimit-Remaining", "4294967295"]]
    assert second["headers"][1] == ["RateLimit-Remaining", "4294967294"]


@weir_does("flag-vtm-metadata-lost", "flag-detailed-leaf-metadata-lost", "flag-key-wildcard-metadata-lost")
def test_metadata_is_kept(serve, quirk):
    for _, reply in replay(serve(), quirk):
        assert reply["metadata"]["metadata"] == {"tag": "t"}


@weir_does("metadata-override-text")
def test_override_as_text_is_stable(serve, quirk):
    texts = [reply["metadata"]["descriptors"][0]["limit"] for _, reply in replay(serve(), quirk)]
    assert texts == ["requests_per_unit:42 unit:HOUR", "requests_per_unit:0 unit:DAY"]


@weir_does("metadata-odd-keys")
def test_metadata_keys_keep_their_spelling(serve, quirk):
    (_, reply), = replay(serve(), quirk)
    assert reply["metadata"]["metadata"] == {
        "yes": 1.0, "off": 2.0, "07": 3.0, "1.50": 4.0,
        "sub": {"yes": 1.0, "n": 2.0, "07": 3.0, "1.50": 4.0, "~": 5.0}}


@weir_does("metadata-date-values")
def test_metadata_like_the_reference(serve, quirk):
    for reference, reply in replay(serve(), quirk):
        same(reference, reply)
