# SPDX-License-Identifier: Apache-2.0
"""The checks of the architecture tests.

Each takes the top of a tree and returns (looked_at, faults): how many things it looked at, and one
line of text a fault. A tree of its own in a temporary directory shows that each can fail.
"""
import fnmatch
import os
import re

SKIPPED_FOLDERS = re.compile(r"build|__pycache__|\.(?!ci$).*")
SOURCE_ENDINGS = (".c", ".h", ".py", ".sh", ".cmake", ".proto", "CMakeLists.txt")
# The replayer and its scenarios are kept as they came.
COPIED = ("tests/vectors/replay.py", "tests/vectors/oraclelib.py", "tests/vectors/FORMAT.md",
          "tests/vectors/scenarios/*", "tests/cases/scenarios/*")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"]+)[>"]', re.M)
WR_ROOM = re.compile(r"\bwr_room\(\s*(\w+)([^)]*)\)")
ROOM_WORDS = {"HEADERS", "SOURCES", "ROOMS", "PRIVATE"}
SLEEP = re.compile(r"\b(?:sleep|usleep|nanosleep|clock_nanosleep|thrd_sleep)\s*\(|^\s*sleep [0-9$\"]", re.M)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|farm|home)/[\w.]|\.\./shared\b")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME)\b")


def files(root, *tops):
    """Paths relative to root, sorted, of all files below the given folders (of all: none given)."""
    found = []
    for top in tops or (".",):
        for base, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(f for f in folders if not SKIPPED_FOLDERS.fullmatch(f))
            found += [os.path.relpath(os.path.join(base, n), root) for n in names]
    return sorted(found)


def text(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def is_any(path, patterns):
    return any(fnmatch.fnmatch(path, p) for p in patterns)


def line_of(body, offset):
    return body.count("\n", 0, offset) + 1


def c_sources(root, *tops):
    return [p for p in files(root, *tops) if p.endswith((".c", ".h"))]


def includes(root, *tops):
    """(path, line, is_quoted, header) of every include below the given folders."""
    for path in c_sources(root, *tops):
        body = text(root, path)
        for m in INCLUDE.finditer(body):
            yield path, line_of(body, m.start()), m.group(1) == '"', m.group(2)


def load_rooms(root):
    rooms = {}
    for line in text(root, "server/rooms.txt").splitlines():
        line = line.partition("#")[0].strip()
        if line:
            name, _, others = line.partition(":")
            rooms[name.strip()] = set(others.split())
    return rooms


def load_homes(root):
    """-> ({header pattern: [home pattern]}, {system header})"""
    homes, system = {}, set()
    for line in text(root, "tests/arch/homes.txt").splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] == "system:":
            system.update(words[1:])
        elif words:
            homes[words[0]] = words[1:]
    return homes, system


def room_of(path):
    """The room of a file below server/, None for the files at its top."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None


def check_server_includes(root):
    rooms, (homes, _) = load_rooms(root), load_homes(root)
    looked, faults = 0, []
    for path, line, is_quoted, header in includes(root, "server"):
        if not is_quoted or is_any(header, homes):
            continue
        looked += 1
        room, target = room_of(path), header.split("/")[0] if "/" in header else None
        where = f"{path}:{line}: includes \"{header}\""
        if target is None and room is not None:
            faults.append(f"{where}: not of the form \"room/file.h\"")
        elif target is not None and target not in rooms:
            faults.append(f"{where}: {target} is not a room of server/rooms.txt")
        elif room is not None and room not in rooms:
            faults.append(f"{path}: {room} is not a room of server/rooms.txt")
        elif room is not None and target != room and target not in rooms[room]:
            faults.append(f"{where}: {room} may not include {target}")
    return looked, faults


def check_client_includes(root):
    """Every quoted header of the client is the client's own, or generated for it."""
    homes, _ = load_homes(root)
    looked, faults = 0, []
    for path, line, is_quoted, header in includes(root, "client"):
        if not is_quoted or is_any(header, homes):
            continue
        looked += 1
        tries = (os.path.dirname(path), "client", "client/include")
        if not any(os.path.isfile(os.path.join(root, t, header)) for t in tries):
            faults.append(f"{path}:{line}: includes \"{header}\", which is not a file of the client")
    return looked, faults


def check_public_header(root):
    """The installed headers need nothing but the C library."""
    _, system = load_homes(root)
    looked, faults = 0, []
    for path, line, is_quoted, header in includes(root, "client/include"):
        looked += 1
        if is_quoted or header not in system:
            faults.append(f"{path}:{line}: a public header includes {header}")
    return looked, faults


def check_included_once(root):
    looked, faults, seen = 0, [], set()
    for path, line, _, header in includes(root, "server", "client", "tests"):
        looked += 1
        if (path, header) in seen:
            faults.append(f"{path}:{line}: {header} is included twice")
        seen.add((path, header))
    return looked, faults


def check_third_party_homes(root):
    homes, system = load_homes(root)
    looked, faults = 0, []
    for path, line, is_quoted, header in includes(root, "server", "client"):
        patterns = [p for p in homes if fnmatch.fnmatch(header, p)]
        if is_quoted and not patterns:
            continue
        looked += 1
        if not patterns and header not in system:
            faults.append(f"{path}:{line}: <{header}> has no home in tests/arch/homes.txt")
        elif patterns and not any(is_any(path, homes[p]) for p in patterns):
            faults.append(f"{path}:{line}: <{header}> belongs to {' '.join(homes[patterns[0]])}")
    return looked, faults


def cmake_rooms(root):
    """(path, room, {linked rooms}) of every wr_room call."""
    for path in files(root, "server"):
        if os.path.basename(path) != "CMakeLists.txt":
            continue
        for m in WR_ROOM.finditer(re.sub(r"#.*", "", text(root, path))):
            linked, section = set(), None
            for word in m.group(2).split():
                if word in ROOM_WORDS:
                    section = word
                elif section == "ROOMS":
                    linked.add(word)
            yield path, m.group(1), linked


def check_cmake_edges(root):
    rooms, seen, faults = load_rooms(root), set(), []
    for path, room, linked in cmake_rooms(root):
        seen.add(room)
        if room not in rooms:
            faults.append(f"{path}: {room} is not a room of server/rooms.txt")
        elif linked != rooms[room]:
            faults.append(f"{path}: ROOMS of {room} are {sorted(linked)}, in server/rooms.txt {sorted(rooms[room])}")
    faults += [f"server/rooms.txt: no wr_room({room} …)" for room in rooms if room not in seen]
    return len(seen), faults


def check_header_form(root):
    """Guard WR_<ROOM>_<FILE>_H and a line on threads in every header of a room."""
    looked, faults = 0, []
    for path in c_sources(root, "server"):
        if not path.endswith(".h") or room_of(path) is None:
            continue
        looked += 1
        body = text(root, path)
        guard = "WR_" + re.sub(r"\W", "_", path[len("server/"):]).upper()
        short = "WR_%s_%s" % (room_of(path).upper(), re.sub(r"\W", "_", os.path.basename(path)).upper())
        if not re.search(rf"^#ifndef (?:{guard}|{short})$", body, re.M):
            faults.append(f"{path}: no include guard {guard}")
        if "Threads:" not in body:
            faults.append(f"{path}: no line 'Threads: …' says who may call it")
    return looked, faults


def load_tested_elsewhere(root):
    """[pattern] of sources whose unit test is not a file of the same name."""
    lines = text(root, "tests/arch/tested_elsewhere.txt").splitlines()
    return [words[0] for words in (line.partition("#")[0].split() for line in lines) if words]


def check_unit_tests(root):
    """server/ROOM/…/FILE.c, and client/…/FILE.c, has FILE_test.c or FOLDER_FILE_test.c below tests/unit/ROOM."""
    elsewhere = load_tested_elsewhere(root)
    looked, faults = 0, []
    for path in c_sources(root, "server", "client"):
        if not path.endswith(".c") or is_any(path, elsewhere):
            continue
        looked += 1
        parts = path[:-2].split("/")
        room = "client" if parts[0] == "client" else parts[1] if len(parts) > 2 else "server"
        there = {os.path.basename(p) for p in files(root, f"tests/unit/{room}")}
        if not there & {f"{parts[-1]}_test.c", f"{'_'.join(parts[-2:])}_test.c"}:
            faults.append(f"{path}: no {parts[-1]}_test.c below tests/unit/{room}")
    return looked, faults


def check_each_file(root, is_looked_at, fault_of):
    looked, faults = 0, []
    for path in files(root):
        if is_looked_at(path) and not is_any(path, COPIED):
            looked += 1
            faults += fault_of(path, text(root, path))
    return looked, faults


def is_source(path):
    return path.endswith(SOURCE_ENDINGS) or path in ("dev", ".ci/run")


def check_licence_lines(root):
    def fault_of(path, body):
        head = "\n".join(body.splitlines()[:3])
        return [] if "SPDX-License-Identifier: Apache-2.0" in head else [f"{path}: no SPDX line at its top"]
    return check_each_file(root, is_source, fault_of)


def check_matches(root, pattern, is_looked_at, what):
    def fault_of(path, body):
        return [f"{path}:{line_of(body, m.start())}: {what}" for m in pattern.finditer(body)]
    return check_each_file(root, is_looked_at, fault_of)


def check_machine_paths(root):
    return check_matches(root, MACHINE_PATH, lambda path: True, "a path outside a clone")


def check_sleeps(root):
    return check_matches(root, SLEEP, lambda path: path.startswith("tests/") and is_source(path),
                         "sleeps; wait on a condition with a deadline")


def check_unfinished(root):
    return check_matches(root, UNFINISHED, is_source, "a mark of something unfinished")
