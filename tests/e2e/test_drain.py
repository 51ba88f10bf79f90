# SPDX-License-Identifier: Apache-2.0
"""Restarts under load: two instances, one after the other, while Envoy and a gRPC client go on calling.

Callers that follow health, and connections that leave by their age, lose no call. What callers lose
that do neither is measured, and stated in docs/operations.md.
"""
import os
import string

import envoyproxy
import pytest
import weirserver
from loads import FullLoad, GrpcLoad, HttpLoad
from ports import free_port
from weirserver import wait_until

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "drain_envoy.yaml")
RELEASE = os.environ.get("WEIR_RELEASE_BIN_DIR", os.path.join(weirserver.BUILD, "bin"))
LIMIT = 4_000_000_000
RULES = f"domain: edge\ndescriptors:\n  - {{key: user, rate_limit: {{unit: hour, requests_per_unit: {LIMIT}}}}}\n"
REQUEST = {"domain": "edge", "desc": [[["user", "a"]]]}
RATE = 2000
# Calls under way at full speed.
DEPTH = 400

FOLLOW_HEALTH = {"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}
# How the instances end, and whom the callers call.
BY_HEALTH = ["--drain-delay", "2s"]
BY_AGE = ["--drain-delay", "2s", "--max-connection-age", "3s", "--drain-timeout", "8s"]
BY_NEITHER = ["--drain-delay", "2s", "--drain-timeout", "2s"]


class Fleet:
    """Two instances, each on a port that it keeps over restarts, and Envoy in front of them."""

    def __init__(self, launch, flags):
        self.launch, self.flags = launch, flags
        self.servers = [self.start(f"127.0.0.1:{free_port()}") for _ in range(2)]
        self.addresses = [s.address for s in self.servers]

    def start(self, listen):
        return self.launch(RULES, *self.flags, program=os.path.join(RELEASE, "weir"), listen=listen)

    def served(self, index):
        """How many calls the instance has counted since it was started."""
        peek = self.servers[index].caller().call("edge", {"entries": [["user", "a"]], "hits": 0})
        return LIMIT - peek["statuses"][0]["remaining"]

    def restart(self, index, envoy):
        self.servers[index].stop()
        self.servers[index] = self.start(self.addresses[index])
        wait_until(lambda: envoy.ready() == set(self.addresses), "both instances ready")

    def wait_called(self, index):
        wait_until(lambda: self.served(index) > 200, "calls of the instance")

    def called(self):
        """The first instance that has some more calls."""
        before = [self.served(index) for index in range(2)]
        return wait_until(lambda: [i for i in range(2) if self.served(i) > before[i] + 200], "calls of an instance")[0]

    def restart_both(self, envoy, load):
        """Each is restarted while it is called, and called again before the other's turn."""
        for index in range(2):
            self.wait_called(index)
            self.restart(index, envoy)
            self.wait_called(index)
        load.stop()


@pytest.fixture
def fleet(launch):
    return lambda flags: Fleet(launch, flags)


class Envoy(envoyproxy.Envoy):
    """In front of both instances; see drain_envoy.yaml."""

    def __init__(self, folder, fleet, rls_cluster):
        self.admin_port, edge_port, upstream_port, self.service_port = (free_port() for _ in range(4))
        with open(TEMPLATE, encoding="utf-8") as f:
            template = string.Template(f.read())
        super().__init__(folder, template.substitute(
            ADMIN_PORT=self.admin_port, EDGE_PORT=edge_port, UPSTREAM_PORT=upstream_port, SERVICE_PORT=self.service_port,
            RLS_CLUSTER=rls_cluster, PORT_0=fleet.servers[0].port, PORT_1=fleet.servers[1].port), edge_port)

    @property
    def service(self):
        return f"127.0.0.1:{self.service_port}"

    def ready(self):
        """{address} of the instances that new connections go to."""
        _, _, body = envoyproxy.get(self.admin_port, "/clusters", {})
        lines = (line.split("::") for line in body.decode().splitlines())
        return {parts[1] for parts in lines if parts[0] == "instances" and parts[2:] == ["health_flags", "healthy"]}


@pytest.fixture
def envoy(tmp_path):
    started = []

    def start(fleet, rls_cluster):
        started.append(Envoy(str(tmp_path), fleet, rls_cluster))
        wait_until(lambda: started[0].ready() == set(fleet.addresses), "both instances ready")
        return started[0]

    yield start
    for process in started:
        process.stop()


def report(capsys, load):
    with capsys.disabled():
        print(f"\ndrain: {os.environ['PYTEST_CURRENT_TEST'].split('::')[-1].split(' ')[0]}: {load}")


def check_load(load):
    """That it was one; slow machines do much less than they were asked to, and take longer."""
    assert load.sent >= RATE, str(load)


def check_none_failed(capsys, load):
    report(capsys, load)
    assert not load.failures, str(load)
    assert load.good == load.sent
    check_load(load)


def expect_few_failures(capsys, two, edge, begin_load):
    """Those that came while C core's shutdown was not yet known to the caller: some milliseconds of calls, and some more
    where the caller has to wait for its turn. A machine that is busy with something else gets three chances."""
    for _ in range(3):
        with begin_load() as load:
            restart_one(two, edge, load)
        report(capsys, load)
        check_load(load)
        if sum(load.failures.values()) < max(100, load.sent_per_second / 10):
            return
    pytest.fail(str(load))


def test_envoy_that_follows_health(fleet, envoy, capsys):
    two = fleet(BY_HEALTH)
    edge = envoy(two, "instances")
    with HttpLoad(RATE, edge.edge_port, x_user="a") as load:
        two.restart_both(edge, load)
    check_none_failed(capsys, load)


def test_envoy_whose_connections_age(fleet, envoy, capsys):
    two = fleet(BY_AGE)
    edge = envoy(two, "service")
    with HttpLoad(RATE, edge.edge_port, x_user="a") as load:
        two.restart_both(edge, load)
    check_none_failed(capsys, load)


def test_client_that_follows_health(fleet, envoy, capsys):
    two = fleet(BY_HEALTH)
    edge = envoy(two, "instances")
    with GrpcLoad(RATE, "ipv4:" + ",".join(two.addresses), REQUEST, 1, FOLLOW_HEALTH) as load:
        two.restart_both(edge, load)
    check_none_failed(capsys, load)


def test_client_whose_connections_age(fleet, envoy, capsys):
    two = fleet(BY_AGE)
    edge = envoy(two, "service")
    with GrpcLoad(RATE, edge.service, REQUEST, 8) as load:
        two.restart_both(edge, load)
    check_none_failed(capsys, load)


def test_full_speed_by_health(fleet, envoy, capsys):
    two = fleet(BY_HEALTH)
    edge = envoy(two, "instances")
    with FullLoad(DEPTH, "ipv4:" + ",".join(two.addresses), REQUEST, 1, FOLLOW_HEALTH) as load:
        two.restart_both(edge, load)
    check_none_failed(capsys, load)


def test_full_speed_by_age(fleet, envoy, capsys):
    two = fleet(BY_AGE)
    edge = envoy(two, "service")
    with FullLoad(DEPTH, edge.service, REQUEST, 8) as load:
        two.restart_both(edge, load)
    check_none_failed(capsys, load)


def restart_one(two, edge, load):
    """The instance that is called; without age its connections would not come back to it."""
    two.restart(two.called(), edge)
    load.stop()


def test_envoy_with_neither(fleet, envoy, capsys):
    two = fleet(BY_NEITHER)
    edge = envoy(two, "service")
    expect_few_failures(capsys, two, edge, lambda: HttpLoad(RATE, edge.edge_port, x_user="a"))


def test_client_with_neither(fleet, envoy, capsys):
    two = fleet(BY_NEITHER)
    edge = envoy(two, "service")
    expect_few_failures(capsys, two, edge, lambda: GrpcLoad(RATE, edge.service, REQUEST, 8))


def test_full_speed_with_neither(fleet, envoy, capsys):
    """What is under way at the moment of the shutdown can be lost, not more."""
    two = fleet(BY_NEITHER)
    edge = envoy(two, "service")
    with FullLoad(DEPTH, edge.service, REQUEST, 8) as load:
        restart_one(two, edge, load)
    report(capsys, load)
    assert sum(load.failures.values()) <= DEPTH, str(load)
    check_load(load)
