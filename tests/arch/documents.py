# SPDX-License-Identifier: Apache-2.0
"""The checks of what documents point to: links, and the files and folders that they name.

As in checks.py, each returns (looked_at, faults).
"""
import os
import re

import checks

FENCED = re.compile(r"^ *```.*?^ *```", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.M)
CODE = re.compile(r"`([^`\s]+)`")
# A file by its ending, a folder by its slash; … stands for folders that were left out.
NAMED = re.compile(r"(?:[\w.-]+/|…/)*(?:[\w.-]+\.(?:c|h|py|sh|md|proto|yaml|txt|cmake)|[\w.-]+/)")
SHOWN = re.compile(r"(?<![\w./<\"-])(?:[\w-]+/)+[\w-]+\.[ch]\b")


def documents(root):
    return [p for p in checks.files(root) if p.endswith(".md") and not checks.is_any(p, checks.COPIED)]


def anchors(body):
    """As GitHub makes them of headings."""
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in HEADING.findall(FENCED.sub("", body))}


def fault_of_link(root, document, link):
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
    if not os.path.exists(os.path.join(root, target)):
        return f"{document}: {link} leads nowhere"
    if anchor and anchor not in anchors(checks.text(root, target)):
        return f"{document}: {link}: no such heading"
    return None


def check_document_links(root):
    looked, faults = 0, []
    for document in documents(root):
        for link in LINK.findall(FENCED.sub("", checks.text(root, document))):
            if not re.match(r"https?://", link):
                looked += 1
                faults.append(fault_of_link(root, document, link))
    return looked, [f for f in faults if f]


def named(body):
    """What stands in quotes of code outside of blocks, and sources in pictures."""
    names = {n for n in CODE.findall(FENCED.sub("", body)) if NAMED.fullmatch(n)}
    return sorted(names | set(SHOWN.findall(body)))


def check_named_files(root):
    """A name may be the end of a path: `err.h` in a document of the server is server/base/err.h."""
    paths = checks.files(root)
    folders = {os.path.dirname(p) for p in paths}
    folders |= {f[:i] for f in folders for i, c in enumerate(f) if c == "/"}
    all_paths = "\n".join(["/" + p for p in paths] + [f"/{f}/" for f in sorted(folders)])
    looked, faults = 0, []
    for document in documents(root):
        for name in named(checks.text(root, document)):
            looked += 1
            pattern = ".*".join(map(re.escape, name.removeprefix("./").split("…")))
            if not re.search(f"/{pattern}$", all_paths, re.M):
                faults.append(f"{document}: there is no {name}")
    return looked, faults
