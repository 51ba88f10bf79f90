# SPDX-License-Identifier: Apache-2.0
"""Fixtures: servers that are started for one test and must end cleanly after it."""
import os
import shutil

import pytest
import weirserver
from controlplane import ControlPlane
from redisbed import Bed

# The same server over the embedded store, which answers inline, and over one for tests, which
# answers late, from another thread and in another order.
STORES = {"local": "weir", "slow": "weir_slow_store"}
SLOW_TIMEOUT_US = 20 * 10**6    # a busy machine is no store without an answer


def pytest_addoption(parser):
    parser.addoption("--store", choices=[*STORES, "all"], default="all", help="the stores to run with")


def pytest_generate_tests(metafunc):
    if "store" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--store")
        metafunc.parametrize("store", list(STORES) if chosen == "all" else [chosen])


@pytest.fixture(autouse=True)
def room_in_the_hour():
    """No test begins where the hour would end under it."""
    weirserver.room_in_the_hour()


@pytest.fixture
def launch(tmp_path):
    """launch(rules, *flags, program=…, …) starts a server; all end with the test."""
    servers = []

    def start(rules, *flags, program="weir", **more):
        server = weirserver.Server(weirserver.binary(program), tmp_path / f"server{len(servers)}")
        os.mkdir(server.folder)
        servers.append(server)
        return server.start(rules, *flags, **more)

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def launch_stores(launch, store):
    """As launch, once with each store."""
    def start(rules, *flags, env=None, **more):
        return launch(rules, *flags, program=STORES[store], env={"SLOW_TIMEOUT_US": SLOW_TIMEOUT_US, **(env or {})}, **more)
    return start


@pytest.fixture(scope="session")
def grpcurl():
    found = os.path.join(weirserver.BUILD, "go", "bin", "grpcurl")
    return found if os.path.exists(found) else shutil.which("grpcurl")


@pytest.fixture
def bed():
    with Bed() as made:
        yield made


@pytest.fixture
def start_redis(bed):
    """start_redis(*settings, port=None): a server of its own; all end with the test."""
    return bed.redis


@pytest.fixture
def redis(start_redis):
    return start_redis()


@pytest.fixture
def plane():
    with ControlPlane() as made:
        yield made


@pytest.fixture
def follow(launch):
    """follow(plane, *flags, **env) starts a server that has its rules from `plane`, and is quick to come back."""
    def start(plane, *flags, port=None, program="weir", **env):
        settings = {"CONFIG_TYPE": "GRPC_XDS_SOTW", "CONFIG_GRPC_XDS_SERVER_URL": f"127.0.0.1:{port or plane.port}",
                    "XDS_CLIENT_BACKOFF_INITIAL_INTERVAL": "50ms", "XDS_CLIENT_BACKOFF_MAX_INTERVAL": "200ms", **env}
        return launch({}, "--grpc-listen", "127.0.0.1:0", *flags, env=settings, by_flags=False, program=program)
    return start
