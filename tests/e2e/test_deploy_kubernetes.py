# SPDX-License-Identifier: Apache-2.0
"""deploy/kubernetes/: the manifests against Kubernetes' schemas, each other and the real server."""
import os

import kubernetes_validate
import manifests
import pytest
import weirserver
from grpc_health.v1 import health_pb2, health_pb2_grpc

# preStop.sleep came with 1.30; what a later version drops, the newest schemas refuse.
VERSIONS = ["1.30", kubernetes_validate.latest_version()]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
NAMES = [f"{d['kind']}/{d['metadata']['name']}" for d in manifests.documents()]


def selectors():
    """[(where, labels)] of everything that picks pods."""
    found = [("Deployment", manifests.the("Deployment")["spec"]["selector"]["matchLabels"]),
             ("PodDisruptionBudget", manifests.the("PodDisruptionBudget")["spec"]["selector"]["matchLabels"]),
             ("NetworkPolicy", manifests.the("NetworkPolicy")["spec"]["podSelector"]["matchLabels"])]
    found += [(f"Service/{s['metadata']['name']}", s["spec"]["selector"]) for s in services()]
    found += [(t["topologyKey"], t["labelSelector"]["matchLabels"])
              for t in manifests.pod()["spec"]["topologySpreadConstraints"]]
    return found


def services():
    return [d for d in manifests.documents() if d["kind"] == "Service"]


def rule_files():
    return manifests.the("ConfigMap")["data"]


def health(server, name):
    request = health_pb2.HealthCheckRequest(service=name)
    return health_pb2_grpc.HealthStub(server.caller().channel).Check(request, timeout=weirserver.PATIENCE_SECONDS).status


def mount_rules(folder, files):
    """As the kubelet mounts a ConfigMap: files are links through ..data."""
    version = os.path.join(folder, "..2026_01_01_00_00_00.1")
    weirserver.write_rules(version, files)
    os.symlink(os.path.basename(version), os.path.join(folder, "..data"))
    for name in files:
        os.symlink(os.path.join("..data", name), os.path.join(folder, name))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("document", manifests.documents(), ids=NAMES)
def test_schema(document, version):
    # It falls back to an older version when it does not have the one asked for.
    assert kubernetes_validate.validate(document, version, strict=True) == ".".join(version.split(".")[:2])


def test_schema_refuses_a_misspelt_key():
    document = manifests.the("Deployment")
    document["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, VERSIONS[0], strict=True)


def test_every_file_is_listed():
    there = {n for n in os.listdir(manifests.FOLDER) if n != "kustomization.yaml"}
    assert there == set(manifests.listed_files())
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("labels", [pytest.param(s, id=where) for where, s in selectors()])
def test_selector_picks_the_pod(labels):
    assert labels and labels.items() <= manifests.pod()["metadata"]["labels"].items()


def test_ports_meet():
    port, = manifests.container()["ports"]
    assert port["containerPort"] == int(manifests.options()["--grpc-listen"].rpartition(":")[2])
    # Of gRPC probes Kubernetes takes a number only.
    assert [call["port"] for call in manifests.probes().values()] == [port["containerPort"]] * 3
    named = [p["targetPort"] for s in services() for p in s["spec"]["ports"]]
    named += [p["port"] for rule in manifests.the("NetworkPolicy")["spec"]["ingress"] for p in rule["ports"]]
    assert set(named) == {port["name"]}


def test_one_service_is_headless():
    assert {s["metadata"]["name"]: s["spec"].get("clusterIP") for s in services()} == {
        "weir": None, "weir-headless": "None"}
    assert {p["appProtocol"] for s in services() for p in s["spec"]["ports"]} == {"kubernetes.io/h2c"}


def test_rules_are_a_mounted_directory():
    mount, = manifests.container()["volumeMounts"]
    volume, = manifests.pod()["spec"]["volumes"]
    assert mount["name"] == volume["name"]
    assert volume["configMap"] == {"name": manifests.the("ConfigMap")["metadata"]["name"]}
    # A subPath never sees a change of the ConfigMap.
    assert "subPath" not in mount and mount["readOnly"]
    assert manifests.options()["--rules"] == mount["mountPath"]


def test_rules_are_good(tmp_path):
    weirserver.write_rules(tmp_path, rule_files())
    result = weirserver.run(weirserver.binary("weir"), "check", "--strict", str(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr


def test_time_to_stop():
    """The sum that the Deployment's comment makes: each part is given, and the margin is what is left."""
    options = manifests.options()
    before = manifests.container()["lifecycle"]["preStop"]["sleep"]["seconds"]
    delay, timeout = (manifests.seconds(options[name]) for name in ("--drain-delay", "--drain-timeout"))
    grace = manifests.pod()["spec"]["terminationGracePeriodSeconds"]
    margin = grace - before - delay - timeout
    assert margin >= 5
    with open(os.path.join(manifests.FOLDER, "deployment.yaml"), encoding="utf-8") as f:
        assert f"{before} + {delay} + {timeout} + {margin}" in f.read()


def test_counters_fit_into_memory():
    """With the largest share that a counter may have, and as much again for everything else."""
    limit = manifests.container()["resources"]["limits"]["memory"]
    assert limit.endswith("Mi")
    assert int(manifests.options()["--max-counters"]) * 80 <= int(limit[:-2]) * 2**20 / 2


def test_pod_security_restricted():
    spec, own = manifests.pod()["spec"], manifests.container()["securityContext"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    assert not any(spec.get(k) for k in ("hostNetwork", "hostPID", "hostIPC"))


def test_the_server_takes_the_arguments():
    result = weirserver.run(weirserver.binary("weir"), *manifests.container()["args"], "--list-options")
    assert result.returncode == 0, result.stderr
    words = {line.split()[0]: line.split()[-1] for line in result.stdout.splitlines()}
    assert words["--max-counters"] == manifests.options()["--max-counters"]
    assert words["--workers"] == manifests.options()["--workers"]


def test_a_pod_serves(launch, tmp_path):
    """With the Deployment's arguments and the ConfigMap as the kubelet mounts it."""
    mount = os.path.join(tmp_path, "mount")
    mount_rules(mount, rule_files())
    options = {**manifests.options(), "--rules": mount, "--grpc-listen": "127.0.0.1:0"}
    server = launch({}, *(f"{k}={v}" for k, v in options.items()), by_flags=False)
    assert {name: health(server, call["service"]) for name, call in manifests.probes().items()} == {
        "startupProbe": SERVING, "livenessProbe": SERVING, "readinessProbe": SERVING}
    weirserver.same("OK: OK 99 of 100/MINUTE?", server.caller().call("edge", [["user", "a"]]))


def test_bad_rules_make_a_pod_unready_and_not_dead(launch):
    server = launch({"edge.yaml": "domain: [\n"})
    assert {name: health(server, call["service"]) for name, call in manifests.probes().items()} == {
        "startupProbe": SERVING, "livenessProbe": SERVING, "readinessProbe": NOT_SERVING}
