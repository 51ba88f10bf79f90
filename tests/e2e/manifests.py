# SPDX-License-Identifier: Apache-2.0
"""What deploy/kubernetes/ holds, for the tests of deploy/."""
import os
import re

import weirserver
import yaml

FOLDER = os.path.join(weirserver.ROOT, "deploy", "kubernetes")


def listed_files():
    """The files that kustomization.yaml names."""
    with open(os.path.join(FOLDER, "kustomization.yaml"), encoding="utf-8") as f:
        return yaml.safe_load(f)["resources"]


def documents():
    found = []
    for name in listed_files():
        with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
            found += [d for d in yaml.safe_load_all(f) if d]
    return found


def the(kind):
    """The only document of a kind."""
    document, = (d for d in documents() if d["kind"] == kind)
    return document


def pod():
    return the("Deployment")["spec"]["template"]


def container():
    only, = pod()["spec"]["containers"]
    return only


def probes():
    """{startupProbe, livenessProbe, readinessProbe: its gRPC call}"""
    return {name: value["grpc"] for name, value in container().items() if name.endswith("Probe")}


def options():
    """The container's arguments, {--name: value}."""
    return dict(word.split("=", 1) for word in container()["args"])


def seconds(duration):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m)", duration).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60}[unit]
