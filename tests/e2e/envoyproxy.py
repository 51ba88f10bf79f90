# SPDX-License-Identifier: Apache-2.0
"""Starts and stops a real Envoy and sends requests through it."""
import glob
import http.client
import os
import subprocess

import weirserver
from weirserver import wait_until


def program():
    found, = glob.glob(os.path.join(weirserver.BUILD, "venv-envoy", "lib", "python3*", "site-packages", "envoy", "_bin",
                                    "envoy"))
    return found


def get(port, path, headers):
    """-> (status, {header: value}, body)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=weirserver.PATIENCE_SECONDS)
    try:
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
        body = reply.read()
        return reply.status, {k.lower(): v for k, v in reply.getheaders()}, body
    finally:
        connection.close()


class Envoy:
    """One Envoy process; its listener is at edge_port."""

    def __init__(self, folder, config, edge_port):
        """config: the text of its configuration."""
        self.edge_port = edge_port
        self.log_file = os.path.join(folder, "envoy.log")
        config_file = os.path.join(folder, "envoy.yaml")
        with open(config_file, "w", encoding="utf-8") as f:
            f.write(config)
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen([program(), "-c", config_file, "--concurrency", "1", "--disable-hot-restart",
                                             "--log-level", "error"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.answers, "Envoy's listener")

    def answers(self):
        with open(self.log_file, encoding="utf-8", errors="replace") as f:
            assert self.process.poll() is None, f.read()
        try:
            return self.get("/", {})[0] == 200
        except OSError:
            return False

    def get(self, path, headers):
        """-> (status, {header: value})"""
        return get(self.edge_port, path, headers)[:2]

    def stop(self):
        self.process.terminate()
        self.process.wait(weirserver.PATIENCE_SECONDS)
