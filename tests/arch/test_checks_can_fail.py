# SPDX-License-Identifier: Apache-2.0
"""Each check on a small tree of its own: silent on a clean one, loud on each planted fault."""
import checks
import documents
import pytest

SPDX = "SPDX-License-Identifier: Apache-2.0"
HEADER = f"/* {SPDX} */\n#ifndef WR_%s_H\n#define WR_%s_H\n/* Threads: any thread. */\n#endif\n"

CLEAN = {
    "server/rooms.txt": "base:\nstore: base\nservice: base store\n",
    "server/base/err.h": HEADER % ("BASE_ERR", "BASE_ERR"),
    "server/base/CMakeLists.txt": f"# {SPDX}\nwr_room(base HEADERS err.h SOURCES err.c)\n",
    "server/store/store.h": HEADER % ("STORE_STORE", "STORE_STORE"),
    "server/store/store.c": f'/* {SPDX} */\n#include "store/store.h"\n\n#include "base/err.h"\n\n#include <string.h>\n',
    "server/store/CMakeLists.txt": f"# {SPDX}\nwr_room(store SOURCES store.c ROOMS base PRIVATE x)\n",
    "server/service/decide.c": f'/* {SPDX} */\n#include "store/store.h"\n',
    "server/service/CMakeLists.txt": f"# {SPDX}\nwr_room(service SOURCES decide.c\n    ROOMS base store)\n",
    "server/app.h": f"/* {SPDX} */\n",
    "server/app.c": f'/* {SPDX} */\n#include "app.h"\n#include "service/decide.h"\n',
    "client/include/weir/client.h": f"/* {SPDX} */\n#include <stdint.h>\n",
    "client/codec.c": f'/* {SPDX} */\n#include "weir/client.h"\n\n#include <pb.h>\n',
    "tests/unit/store/store_test.c": f"/* {SPDX} */\n",
    "tests/unit/service/decide_test.c": f"/* {SPDX} */\n",
    "tests/unit/client/codec_test.c": f"/* {SPDX} */\n",
    "tests/arch/tested_elsewhere.txt": "server/app.c  # e2e\n",
    "README.md": "# It\n\n[rules](docs/rules.md#a-limit), [top](#it) and [a page](https://weir.invalid/x); "
                 "`err.h`, `server/`, `proto/x`, `server/…/err.h`, `*.yaml`.\n",
    "docs/rules.md": "# Rules\n\n## A `limit`\n\n```yaml\n# no heading\n```\n",
    "tests/arch/homes.txt": "pb.h client/codec.c\nyaml.h server/rules/config_yaml.c\n*.pb-c.h server/wire/*\nsystem: string.h stdint.h\n",
}

ALL = [
    checks.check_server_includes, checks.check_client_includes, checks.check_public_header,
    checks.check_included_once, checks.check_third_party_homes, checks.check_cmake_edges, checks.check_header_form,
    checks.check_unit_tests, checks.check_licence_lines, checks.check_machine_paths, checks.check_sleeps,
    checks.check_unfinished, documents.check_document_links, documents.check_named_files,
]

# A check, the file that is changed, what is added to it, and a part of the complaint.
PLANTED = [
    (checks.check_server_includes, "server/store/store.c", '#include "service/decide.h"\n', "store may not include service"),
    (checks.check_server_includes, "server/store/store.c", '#  include "service/decide.h"\n', "store may not include service"),
    (checks.check_server_includes, "server/store/store.c", '#include "app.h"\n', "not of the form"),
    (checks.check_server_includes, "server/store/store.c", '#include "weir/client.h"\n', "weir is not a room"),
    (checks.check_server_includes, "server/attic/old.c", '#include "base/err.h"\n', "attic is not a room"),
    (checks.check_client_includes, "client/codec.c", '#include "base/err.h"\n', "not a file of the client"),
    (checks.check_public_header, "client/include/weir/client.h", "#include <pb.h>\n", "a public header includes pb.h"),
    (checks.check_included_once, "server/store/store.c", "#include <string.h>\n", "string.h is included twice"),
    (checks.check_third_party_homes, "server/store/store.c", "#include <yaml.h>\n", "belongs to server/rules/config_yaml.c"),
    (checks.check_third_party_homes, "server/store/store.c", '#include "rls.pb-c.h"\n', "belongs to server/wire/*"),
    (checks.check_third_party_homes, "server/store/store.c", "#include <zlib.h>\n", "has no home"),
    (checks.check_cmake_edges, "server/store/CMakeLists.txt", "wr_room(store ROOMS base service)\n", "ROOMS of store"),
    (checks.check_cmake_edges, "server/store/CMakeLists.txt", "wr_room(attic)\n", "attic is not a room"),
    (checks.check_cmake_edges, "server/rooms.txt", "wire: base\n", "no wr_room(wire"),
    (checks.check_header_form, "server/store/odd.h", f"/* {SPDX} */\n/* Threads: any */\n", "no include guard"),
    (checks.check_header_form, "server/store/odd.h", f"/* {SPDX} */\n#ifndef WR_STORE_ODD_H\n", "no line 'Threads:"),
    (checks.check_unit_tests, "server/store/odd.c", "", "no odd_test.c below tests/unit/store"),
    (checks.check_licence_lines, "server/store/odd.c", "int x;\n", "no SPDX line"),
    (checks.check_licence_lines, "dev", "#!/usr/bin/env bash\n", "no SPDX line"),
    (checks.check_machine_paths, "README.md", "see /" + "work/main\n", "a path outside a clone"),
    (checks.check_machine_paths, "README.md", "see .." + "/shared/design.md\n", "a path outside a clone"),
    (checks.check_sleeps, "tests/unit/store/store_test.c", "    usleep" + "(10);\n", "sleeps"),
    (checks.check_sleeps, "tests/e2e/test_x.py", "time.sleep" + "(1)\n", "sleeps"),
    (checks.check_sleeps, "tests/e2e/x.sh", "  sleep " + "1\n", "sleeps"),
    (checks.check_unfinished, "server/store/store.c", "// TO" + "DO later\n", "unfinished"),
    (documents.check_document_links, "README.md", "[gone](docs/gone.md)\n", "docs/gone.md leads nowhere"),
    (documents.check_document_links, "docs/rules.md", "[back](README.md)\n", "README.md leads nowhere"),
    (documents.check_document_links, "README.md", "[gone](docs/rules.md#no-heading)\n", "no such heading"),
    (documents.check_document_links, "README.md", "[gone](#a-limit)\n", "no such heading"),
    (documents.check_named_files, "README.md", "see `store/gone.c`\n", "there is no store/gone.c"),
    (documents.check_named_files, "README.md", "see `gone.md`\n", "there is no gone.md"),
    (documents.check_named_files, "README.md", "see `client/gone/`\n", "there is no client/gone/"),
    (documents.check_named_files, "README.md", "see `server/…/gone.h`\n", "there is no server/…/gone.h"),
    (documents.check_named_files, "README.md", "```\nmatch   rules/gone.c\n```\n", "there is no rules/gone.c"),
]


def plant(root, tree):
    for path, body in tree.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(body, encoding="utf-8")


@pytest.mark.parametrize("check", ALL, ids=lambda c: c.__name__)
def test_clean_tree_passes(check, tmp_path):
    plant(tmp_path, CLEAN)
    looked, faults = check(str(tmp_path))
    assert looked > 0
    assert faults == []


@pytest.mark.parametrize("check", ALL, ids=lambda c: c.__name__)
def test_empty_tree_is_seen_as_nothing(check, tmp_path):
    plant(tmp_path, {"server/rooms.txt": "", "tests/arch/homes.txt": "", "tests/arch/tested_elsewhere.txt": ""})
    looked, _ = check(str(tmp_path))
    assert looked == 0 or check is checks.check_machine_paths


@pytest.mark.parametrize("check, path, addition, complaint", PLANTED)
def test_planted_fault_is_found(check, path, addition, complaint, tmp_path):
    plant(tmp_path, dict(CLEAN, **{path: CLEAN.get(path, "") + addition}))
    _, faults = check(str(tmp_path))
    assert any(complaint in f for f in faults), faults


def test_every_check_has_a_planted_fault():
    assert {row[0] for row in PLANTED} == set(ALL)
