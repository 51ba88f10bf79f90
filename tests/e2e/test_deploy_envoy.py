# SPDX-License-Identifier: Apache-2.0
"""deploy/envoy/envoy.yaml in a real Envoy, with the rules of deploy/kubernetes/.

As shipped it is only validated: what runs has ports of this machine, an upstream of its own and time
for a slow machine to answer.
"""
import ipaddress
import itertools
import os
import re

import envoyproxy
import manifests
import pytest
import weirserver
import yaml
from ports import free_port
from weirserver import wait_until

SHIPPED = os.path.join(weirserver.ROOT, "deploy", "envoy", "envoy.yaml")
GUIDE = os.path.join(weirserver.ROOT, "docs", "kubernetes.md")
RULES = manifests.the("ConfigMap")["data"]
UPSTREAM = """\
name: upstream
filter_chains:
- filters:
  - name: envoy.filters.network.http_connection_manager
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: upstream
      route_config: {virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: "/"}, direct_response: {status: 200}}]}]}
      http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
"""


def shipped():
    with open(SHIPPED, encoding="utf-8") as f:
        return yaml.safe_load(f)


def manager(config):
    """The HTTP connection manager of the listener `edge`."""
    edge, = (item for item in config["static_resources"]["listeners"] if item["name"] == "edge")
    return edge["filter_chains"][0]["filters"][0]["typed_config"]


def rate_limit(config):
    filters = {f["name"]: f["typed_config"] for f in manager(config)["http_filters"]}
    return filters["envoy.filters.http.ratelimit"]


def cluster(config, name):
    found, = (c for c in config["static_resources"]["clusters"] if c["name"] == name)
    return found


def endpoint(config, name):
    """The address of a cluster's only endpoint, to be read or changed."""
    only, = cluster(config, name)["load_assignment"]["endpoints"][0]["lb_endpoints"]
    return only["endpoint"]["address"]["socket_address"]


def local(port):
    return {"address": "127.0.0.1", "port_value": port}


def for_here(weir_port, admin_port, edge_port, upstream_port):
    config = shipped()
    config["admin"]["address"]["socket_address"] = local(admin_port)
    config["static_resources"]["listeners"][0]["address"]["socket_address"] = local(edge_port)
    upstream = {**yaml.safe_load(UPSTREAM), "address": {"socket_address": local(upstream_port)}}
    config["static_resources"]["listeners"].append(upstream)
    endpoint(config, "app").update(local(upstream_port))
    endpoint(config, "weir").update(local(weir_port))
    rate_limit(config)["timeout"] = "30s"
    return config


class Edge(envoyproxy.Envoy):
    def __init__(self, folder, weir_port):
        self.admin_port, edge_port, upstream_port = (free_port() for _ in range(3))
        config = for_here(weir_port, self.admin_port, edge_port, upstream_port)
        super().__init__(folder, yaml.safe_dump(config), edge_port)

    def count(self, name):
        _, _, body = envoyproxy.get(self.admin_port, f"/stats?filter=^{re.escape(name)}$", {})
        return int(body.decode().rpartition(": ")[2])

    def asks(self):
        """Whether a request is limited: Envoy's worker learns of health a moment after its statistics do."""
        return "x-ratelimit-limit" in self.get("/", {"x-user": "who asks whether it asks"})[1]


@pytest.fixture
def server(launch):
    return launch(RULES, listen=f"127.0.0.1:{free_port()}")


@pytest.fixture
def edge(server, tmp_path):
    process = Edge(str(tmp_path), server.port)
    try:
        wait_until(process.asks, "Envoy's first health check")
        yield process
    finally:
        process.stop()


def validate(config, folder):
    path = os.path.join(folder, "validated.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(config if isinstance(config, str) else yaml.safe_dump(config))
    # No deprecated field either: Envoy warns of each.
    result = weirserver.run(envoyproxy.program(), "--mode", "validate", "--log-level", "warning", "-c", path)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr


def test_envoy_takes_what_is_shipped(tmp_path):
    with open(SHIPPED, encoding="utf-8") as f:
        validate(f.read(), tmp_path)


def istio_patches():
    """{applyTo: value} of the EnvoyFilter in the guide."""
    with open(GUIDE, encoding="utf-8") as f:
        blocks = [d for b in re.findall(r"^```yaml\n(.*?)^```", f.read(), re.M | re.S) for d in yaml.safe_load_all(b)]
    istio, = (b for b in blocks if b["kind"] == "EnvoyFilter")
    return {p["applyTo"]: p["patch"]["value"] for p in istio["spec"]["configPatches"]}


def test_envoy_takes_the_patches_for_istio(tmp_path):
    patches, config = istio_patches(), shipped()
    manager(config)["http_filters"][0] = patches["HTTP_FILTER"]
    manager(config)["route_config"]["virtual_hosts"][0].update(patches["VIRTUAL_HOST"])
    grpc = rate_limit(config)["rate_limit_service"]["grpc_service"]["envoy_grpc"]
    # The name that Istio gives to the port of a Service.
    port, = (d["spec"]["ports"][0]["port"] for d in manifests.documents()
                if d["kind"] == "Service" and d["metadata"]["name"] == "weir")
    assert grpc["cluster_name"] == f"outbound|{port}||{grpc['authority']}"
    weir = cluster(config, "weir")
    weir["name"] = weir["load_assignment"]["cluster_name"] = grpc["cluster_name"]
    validate(config, tmp_path)


def test_it_goes_to_the_headless_service():
    address = endpoint(shipped(), "weir")
    service, = (d for d in manifests.documents() if d["kind"] == "Service" and d["spec"].get("clusterIP") == "None")
    assert address["address"].split(".")[0] == service["metadata"]["name"]
    assert address["port_value"] == service["spec"]["ports"][0]["port"]
    check, = cluster(shipped(), "weir")["health_checks"]
    assert check["grpc_health_check"]["service_name"] == manifests.container()["readinessProbe"]["grpc"]["service"]


def test_its_domain_and_keys_have_rules():
    rules = [yaml.safe_load(text) for text in RULES.values()]
    domain, = (r for r in rules if r["domain"] == rate_limit(shipped())["domain"])
    actions = [a for r in manager(shipped())["route_config"]["virtual_hosts"][0]["rate_limits"] for a in r["actions"]]
    sent = {a["request_headers"]["descriptor_key"] if "request_headers" in a else next(iter(a)) for a in actions}
    assert {d["key"] for d in domain["descriptors"]} <= sent


def test_ten_exports_a_day(edge):
    replies = [edge.get("/export/all", {"x-user": "ann"}) for _ in range(11)]
    assert [status for status, _ in replies] == [200] * 10 + [429]
    first, last = replies[0][1], replies[-1][1]
    assert sorted(first["x-ratelimit-limit"].split(", ")[1:]) == [
        '100;w=60;name="per-user"', '10;w=86400;name="exports"', '50;w=1;name="per-address"']
    assert last["x-envoy-ratelimited"] == "true"
    assert last["x-ratelimit-remaining"] == "0"
    # Each user has exports of its own, and nobody who is refused them is refused the rest.
    assert edge.get("/export/all", {"x-user": "bob"})[0] == 200
    assert edge.get("/other", {"x-user": "ann"})[0] == 200


def test_a_forged_address_is_counted_as_the_peer(edge):
    forged = (str(ipaddress.ip_address("203.0.113.1") + n) for n in itertools.count())

    def left():
        """After a request from yet another address, as it says."""
        _, headers = edge.get("/", {"x-forwarded-for": next(forged)})
        assert headers["x-ratelimit-limit"] == '50, 50;w=1;name="per-address"'
        return int(headers["x-ratelimit-remaining"])

    wait_until(lambda: left() < 49, "a second request of the peer within a second")


NONE_HEALTHY = "cluster.weir.upstream_cx_none_healthy"
ALLOWED_AND_TRIED = "cluster.app.ratelimit.failure_mode_allowed", "cluster.weir.upstream_rq_total"


def test_drained_then_gone_then_back(edge, server, launch):
    """Without a pod requests pass at once, and the next pod at that address is asked again."""
    assert edge.get("/export/all", {"x-user": "ann"})[1]["x-ratelimit-remaining"] == "9"
    before = edge.count(NONE_HEALTHY)           # of the time before its first health check
    server.stop()
    wait_until(lambda: not edge.asks() and edge.count(NONE_HEALTHY) > before, "Envoy's health check to fail")
    allowed, tried = (edge.count(name) for name in ALLOWED_AND_TRIED)
    status, headers = edge.get("/export/all", {"x-user": "ann"})
    assert (status, "x-ratelimit-limit" in headers) == (200, False)
    # It did not even try, so that the request did not wait.
    assert [edge.count(name) for name in ALLOWED_AND_TRIED] == [allowed + 1, tried]
    launch(RULES, listen=server.address)
    wait_until(edge.asks, "Envoy's health check to pass")
    assert edge.get("/export/all", {"x-user": "ann"})[1]["x-ratelimit-remaining"] == "9"
