# SPDX-License-Identifier: Apache-2.0
"""The tree against server/rooms.txt, tests/arch/homes.txt and the rules of the house."""
import os

import checks
import documents
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LOOKS = [
    (checks.check_server_includes, "includes between rooms"),
    (checks.check_client_includes, "includes of the client"),
    (checks.check_public_header, "includes of public headers"),
    (checks.check_included_once, "includes that are there once"),
    (checks.check_third_party_homes, "third-party and system includes"),
    (checks.check_cmake_edges, "rooms in CMake"),
    (checks.check_header_form, "headers of rooms"),
    (checks.check_unit_tests, "sources for their unit tests"),
    (checks.check_licence_lines, "files for their licence line"),
    (checks.check_machine_paths, "files for machine paths"),
    (checks.check_sleeps, "test sources for sleeps"),
    (checks.check_unfinished, "files for unfinished work"),
    (documents.check_document_links, "links of documents"),
    (documents.check_named_files, "files that documents name"),
]


@pytest.mark.parametrize("check, what", LOOKS, ids=[c.__name__ for c, _ in LOOKS])
def test_tree(check, what, capsys):
    looked, faults = check(ROOT)
    with capsys.disabled():
        print(f"\narch: looked at {looked} {what}")
    assert looked > 0
    assert not faults, "\n" + "\n".join(faults)
